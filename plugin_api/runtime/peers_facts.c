/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The facts of an MPI job: the ranks' GPUs as if they were those of one
 * machine, so that schedule, limits, judge and reports need not know better. */
#include "peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strbuf.h"
#include "sysfs.h"

enum { FACTS_BYTES = 16 << 10, LISTED_MOST = 16 };

#define HASH_BASIS UINT64_C(14695981039346656037)
#define HASH_PRIME UINT64_C(1099511628211)

/* What the others must know of a rank before all else. */
struct card {
    char host[64];
    char node[PEERS_NODE_BYTES];
    uint64_t visible; /* a hash of the GPUs that it may use on its host */
    uint32_t gpus;    /* how many these are */
    uint32_t simulated;
};

enum { ACCESS_UNKNOWN = -1 };

/* How one rank's GPU stands to another's. */
struct way_facts {
    int32_t access;
    uint32_t nvlinks;
    char path[16];
};

/* One rank's own facts, encoded. */
struct encoded {
    uint64_t length;
    unsigned char bytes[FACTS_BYTES];
};

/* Everything on the way to the facts of all. */
struct making {
    struct peers *peers;
    const struct facts *own;
    struct arena *arena;
    struct facts *out;
    struct error *err;
    const uint32_t *gpus; /* positions in own->gpus that ranks may use */
    uint32_t gpus_count;
    struct card *cards; /* by rank */
    uint32_t position;  /* of this rank's GPU in own->gpus */
};

static int32_t no_memory(const struct making *making)
{
    return error_set(
        making->err, NVBW_E_SYSTEM, "no memory for the facts of all ranks");
}

/* ---- Who is where ---- */

/* FNV-1a over their UUIDs, or their addresses where these are unknown. */
static uint64_t hash_gpus(const struct making *making)
{
    uint64_t hash = HASH_BASIS;

    for (uint32_t i = 0; i < making->gpus_count; i++) {
        const struct gpu_facts *const gpu = &making->own->gpus[making->gpus[i]];
        const char *text = gpu->uuid != NULL ? gpu->uuid : gpu->pci;

        for (; text != NULL && *text != '\0'; text++) {
            hash = (hash ^ (unsigned char)*text) * HASH_PRIME;
        }
        hash *= HASH_PRIME;
    }
    return hash;
}

static int32_t deal_cards(struct making *making)
{
    struct peers *const peers = making->peers;
    const char *const boot =
        sysfs_text(making->arena, "/proc/sys/kernel/random/boot_id");
    struct card card = { .visible = hash_gpus(making),
        .gpus = making->gpus_count,
        .simulated = making->own->simulated };

    snprintf(card.host, sizeof card.host, "%s",
        making->own->host != NULL ? making->own->host : "unknown");
    snprintf(card.node, sizeof card.node, "%.63s %.39s", card.host,
        boot != NULL ? boot : "");
    making->cards = arena_alloc(making->arena, peers->ranks, sizeof card);
    peers->nodes =
        arena_alloc(making->arena, peers->ranks, sizeof *peers->nodes);
    if (making->cards == NULL || peers->nodes == NULL) {
        return no_memory(making);
    }
    TRY(peers_gather(
        peers, "hosts", &card, making->cards, sizeof card, making->err));
    for (uint32_t i = 0; i < peers->ranks; i++) {
        memcpy(peers->nodes[i], making->cards[i].node, sizeof card.node);
        peers->nodes[i][sizeof card.node - 1] = '\0';
        making->cards[i].host[sizeof card.host - 1] = '\0';
    }
    return NVBW_OK;
}

/* How many of the ranks before this one choose from the same GPUs. A launcher
 * may show each rank of a host another part of its GPUs. */
static uint32_t local_rank(const struct making *making, uint32_t rank)
{
    uint32_t before = 0;

    for (uint32_t i = 0; i < rank; i++) {
        before +=
            (uint32_t)(peers_are_near(making->peers, i, rank) &&
                       making->cards[i].visible == making->cards[rank].visible);
    }
    return before;
}

/* All ranks look at all cards, so all come to the same answer. */
static int32_t check_places(const struct making *making)
{
    const struct peers *const peers = making->peers;

    for (uint32_t i = 0; i < peers->ranks; i++) {
        const struct card *const card = &making->cards[i];
        const uint32_t local = local_rank(making, i);

        FAIL_IF(card->gpus == 0, making->err, NVBW_E_INVALID,
            "rank %u: host %s has no GPU that can be used", i, card->host);
        FAIL_IF(local >= card->gpus, making->err, NVBW_E_INVALID,
            "rank %u is number %u on host %s, which has %u GPU%s that can be "
            "used: a rank needs a GPU of its own, so start at most %u ranks "
            "there (mpirun --map-by ppr:%u:node)",
            i, local + 1, card->host, card->gpus, card->gpus == 1 ? "" : "s",
            card->gpus, card->gpus);
        FAIL_IF(card->simulated != making->cards[0].simulated, making->err,
            NVBW_E_INVALID,
            "rank %u and rank 0: one has a simulated driver and one a real one",
            i);
    }
    return NVBW_OK;
}

/* ---- What they run ---- */

const char *peers_list_others(uint32_t ranks, peers_holds_fn *holds,
    const void *about, struct arena *arena)
{
    const char *list = NULL;
    uint32_t count = 0;

    for (uint32_t i = 0; i < ranks; i++) {
        uint32_t last = i;

        if (holds(about, i)) {
            continue;
        }
        while (last + 1 < ranks && !holds(about, last + 1)) {
            last++;
        }
        if (count++ == LISTED_MOST) {
            return arena_format(arena, "%s and others", list);
        }
        list = arena_format(arena, last > i ? "%s%s%u-%u" : "%s%s%u",
            list == NULL ? "" : list, list == NULL ? "" : ", ", i, last);
        i = last;
    }
    return list;
}

static int has_build(const void *about, uint32_t rank)
{
    const struct peers_kind *const kinds = about;

    return strncmp(kinds[0].build, kinds[rank].build, sizeof kinds->build) == 0;
}

static int has_plugins(const void *about, uint32_t rank)
{
    const struct peers_kind *const kinds = about;

    return kinds[0].plugins == kinds[rank].plugins;
}

static uint32_t first_other(
    const struct peers_kind *kinds, uint32_t ranks, peers_holds_fn *holds)
{
    uint32_t i = 0;

    while (i < ranks && holds(kinds, i)) {
        i++;
    }
    return i;
}

int32_t peers_compare_kinds(struct peers *peers, const struct peers_kind *own,
    struct arena *arena, struct error *err)
{
    struct peers_kind *const kinds =
        arena_alloc(arena, peers->ranks, sizeof *kinds);

    FAIL_IF(kinds == NULL, err, NVBW_E_SYSTEM, "no memory for %u ranks",
        peers->ranks);
    TRY(peers_gather(peers, "builds", own, kinds, sizeof *own, err));

    const char *list = peers_list_others(peers->ranks, has_build, kinds, arena);

    FAIL_IF(list != NULL, err, NVBW_E_SYSTEM,
        "ranks %s run nvbw-host %.110s, rank 0 runs %.110s: install the same "
        "build on every host",
        list, kinds[first_other(kinds, peers->ranks, has_build)].build,
        kinds[0].build);
    list = peers_list_others(peers->ranks, has_plugins, kinds, arena);
    FAIL_IF(list != NULL, err, NVBW_E_SYSTEM,
        "ranks %s have other files of the MPI plugins than rank 0: install the "
        "same build on every host",
        list);
    return NVBW_OK;
}

/* ---- GPUs ---- */

static int32_t encode_own(const struct making *making, struct encoded *out)
{
    struct facts one = *making->own;
    struct strbuf buf;

    FAIL_IF(out == NULL, making->err, NVBW_E_SYSTEM,
        "no memory for the facts of a rank");
    one.gpus = &making->own->gpus[making->position];
    one.gpus_count = 1;
    one.nodes_count = 0;
    one.pairs_count = 0;
    strbuf_init(&buf, sizeof out->bytes);
    fields_encode(&facts_fields, &one, &buf);

    const int failed = buf.failed;

    out->length = buf.length;
    if (!failed) {
        memcpy(out->bytes, buf.text, buf.length);
    }
    strbuf_free(&buf);
    FAIL_IF(failed, making->err, NVBW_E_SYSTEM,
        "the facts of a rank are larger than %d bytes", FACTS_BYTES);
    return NVBW_OK;
}

/* The number by which this process's driver knows another rank's GPU, or -1:
 * it is on another host, or was not shown to this rank. */
static int32_t device_here(
    const struct making *making, const struct gpu_facts *gpu, uint32_t rank)
{
    if (!peers_are_near(making->peers, rank, making->peers->rank)) {
        return -1;
    }
    if (rank == making->peers->rank) {
        return gpu->device;
    }

    const int32_t at =
        gpu->uuid != NULL ? facts_find_gpu(making->own, gpu->uuid) : -1;

    return at >= 0 ? making->own->gpus[at].device : -1;
}

static int32_t decode_rank(
    const struct making *making, const struct encoded *encoded, uint32_t rank)
{
    struct facts one;

    FAIL_IF(encoded == NULL || making->out->gpus == NULL, making->err,
        NVBW_E_SYSTEM, "no memory for the facts of %u ranks",
        making->peers->ranks);
    FAIL_IF(encoded->length > sizeof encoded->bytes, making->err,
        NVBW_E_INVALID, "rank %u sent facts of impossible length", rank);
    TRY(fields_decode(&facts_fields, encoded->bytes, encoded->length,
        making->arena, &one, making->err));
    FAIL_IF(one.gpus_count != 1, making->err, NVBW_E_INVALID,
        "rank %u sent the facts of %u GPUs", rank, one.gpus_count);

    struct gpu_facts *const gpu = &making->out->gpus[rank];

    *gpu = one.gpus[0];
    gpu->index = (int32_t)rank;
    gpu->host = making->cards[rank].host;
    gpu->device = device_here(making, gpu, rank);
    return NVBW_OK;
}

/* Two ranks of one host that were shown parts which overlap. */
static int32_t check_twice(const struct making *making)
{
    const struct gpu_facts *const gpus = making->out->gpus;

    for (uint32_t i = 0; i < making->peers->ranks; i++) {
        for (uint32_t j = 0; j < i; j++) {
            FAIL_IF(peers_are_near(making->peers, i, j) &&
                        gpus[i].uuid != NULL && gpus[j].uuid != NULL &&
                        strcmp(gpus[i].uuid, gpus[j].uuid) == 0,
                making->err, NVBW_E_INVALID,
                "ranks %u and %u on host %s both have GPU %s: show all ranks "
                "of a host the same GPUs, or each one other GPUs",
                j, i, gpus[i].host, gpus[i].uuid);
        }
    }
    return NVBW_OK;
}

static int32_t gather_gpus(const struct making *making)
{
    struct peers *const peers = making->peers;
    struct encoded *const mine = calloc(1, sizeof *mine);
    struct encoded *const all = calloc(peers->ranks, sizeof *all);
    int32_t status = NVBW_OK;

    making->out->gpus =
        arena_alloc(making->arena, peers->ranks, sizeof *making->out->gpus);
    making->out->gpus_count = peers->ranks;
    if (mine == NULL || all == NULL || making->out->gpus == NULL) {
        status = no_memory(making);
    }
    if (status >= 0) {
        status = encode_own(making, mine);
    }
    status = peers_check(peers, "own facts", status, making->err);
    if (status >= 0) {
        status =
            peers_gather(peers, "facts", mine, all, sizeof *mine, making->err);
    }
    for (uint32_t i = 0; status >= 0 && i < peers->ranks; i++) {
        status = decode_rank(making, &all[i], i);
    }
    free(mine);
    free(all);
    return status;
}

/* ---- Pairs ---- */

/* A cluster of zeros is none, and neither is one that is not complete. */
static int is_in_fabric(const struct gpu_facts *gpu)
{
    const char *const cluster = gpu->fabric_cluster;

    return cluster != NULL && strspn(cluster, "0-") < strlen(cluster) &&
           gpu->fabric_state != NULL &&
           strcmp(gpu->fabric_state, "completed") == 0;
}

int peers_are_linked(const struct gpu_facts *one, const struct gpu_facts *other)
{
    return is_in_fabric(one) && is_in_fabric(other) &&
           strcmp(one->fabric_cluster, other->fabric_cluster) == 0 &&
           one->fabric_clique == other->fabric_clique;
}

static struct way_facts way_to(const struct making *making, uint32_t rank)
{
    const struct facts *const own = making->own;
    const struct gpu_facts *const mine = &own->gpus[making->position];
    const struct gpu_facts *const other = &making->out->gpus[rank];
    struct way_facts way = { .path = "NET" };

    if (peers_are_near(making->peers, rank, making->peers->rank)) {
        const int32_t at =
            other->uuid != NULL ? facts_find_gpu(own, other->uuid) : -1;
        const struct pair_facts *const pair =
            at < 0 ? NULL : facts_pair(own, making->position, (uint32_t)at);

        /* NVML may show what the driver was told to hide. */
        way.access =
            pair != NULL && other->device >= 0 ? pair->access : ACCESS_UNKNOWN;
        way.nvlinks = pair != NULL ? pair->nvlinks : 0;
        snprintf(way.path, sizeof way.path, "%s",
            pair != NULL && pair->path != NULL ? pair->path : "?");
        return way;
    }
    if (peers_are_linked(mine, other)) {
        way.access = 1;
        way.nvlinks = mine->nvlinks_active < other->nvlinks_active
                          ? mine->nvlinks_active
                          : other->nvlinks_active;
        snprintf(way.path, sizeof way.path, "NV%u", way.nvlinks);
    }
    return way;
}

static int32_t list_pairs(
    const struct making *making, const struct way_facts *ways)
{
    const uint32_t ranks = making->peers->ranks;
    struct facts *const out = making->out;

    out->pairs = arena_alloc(
        making->arena, (size_t)ranks * ranks + 1, sizeof *out->pairs);
    if (out->pairs == NULL) {
        return no_memory(making);
    }
    out->pairs_count = 0;
    for (uint32_t i = 0; i < ranks; i++) {
        for (uint32_t j = 0; j < ranks; j++) {
            const struct way_facts *const way = &ways[(size_t)i * ranks + j];

            if (i == j) {
                continue;
            }
            out->pairs[out->pairs_count++] = (struct pair_facts){ .from = i,
                .to = j,
                .access = way->access,
                .nvlinks = way->nvlinks,
                .path = arena_text_n(making->arena, way->path,
                    strnlen(way->path, sizeof way->path)) };
        }
    }
    return NVBW_OK;
}

static int32_t gather_pairs(const struct making *making)
{
    struct peers *const peers = making->peers;
    const size_t row = peers->ranks * sizeof(struct way_facts);
    struct way_facts *const mine = calloc(peers->ranks, sizeof *mine);
    struct way_facts *const all = calloc(peers->ranks, row);
    int32_t status = NVBW_OK;

    if (mine == NULL || all == NULL) {
        status = no_memory(making);
    }
    status = peers_check(peers, "room for ways", status, making->err);
    for (uint32_t i = 0; mine != NULL && status >= 0 && i < peers->ranks; i++) {
        mine[i] = way_to(making, i);
    }
    if (status >= 0) {
        status = peers_gather(peers, "ways", mine, all, row, making->err);
    }
    if (status >= 0) {
        status = list_pairs(making, all);
    }
    free(mine);
    free(all);
    return status;
}

int32_t peers_make_facts(struct peers *peers, const struct facts *own,
    const uint32_t *gpus, uint32_t gpus_count, struct arena *arena,
    struct facts *out, struct error *err)
{
    struct making making = { .peers = peers,
        .own = own,
        .arena = arena,
        .out = out,
        .err = err,
        .gpus = gpus,
        .gpus_count = gpus_count };

    *out = *own;
    out->ranks = peers->ranks;
    TRY(deal_cards(&making));
    TRY(check_places(&making));
    making.position = gpus[local_rank(&making, peers->rank)];
    TRY(gather_gpus(&making));
    TRY(check_twice(&making));
    peers->facts = out;
    return gather_pairs(&making);
}
