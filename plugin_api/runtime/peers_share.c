/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Which handles work between the ranks: settled when the team is formed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine_state.h"
#include "peers.h"
#include "peers_memory.h"
#include "peers_socket.h"
#include "state.h"

enum { PROOF_BYTES = 1 };

/* How a rank's attempt at a fabric handle ended, and where it can be sent
 * descriptors. */
struct trial {
    int64_t code; /* 0: granted */
    char path[PEERS_SOCKET_PATH];
};

static int64_t try_fabric(const struct gpu *gpu)
{
    struct error err = { 0 };
    struct cu_fabric_handle handle;
    uint64_t bytes = 1;
    cu_memory memory = 0;

    if (gpu == NULL || gpu->facts->fabric != 1) {
        return CU_ERROR_NOT_SUPPORTED;
    }
    if (shared_create(gpu, PEERS_FABRIC, &bytes, &memory, &err) < 0) {
        return err.code != 0 ? err.code : CU_ERROR_UNKNOWN;
    }

    const cu_result result =
        gpu->api->vmm_export(&handle, memory, CU_HANDLE_FABRIC, 0);

    gpu->api->vmm_release(memory);
    return (int64_t)result;
}

/* Looks for ranks that stand out: those for which holds() is 0 with rank 0. */
typedef int stands_fn(
    const struct peers *peers, const struct trial *trials, uint32_t rank);

/* The same as peers_list_others asks for it. */
struct standing {
    const struct peers *peers;
    const struct trial *trials;
    stands_fn *stands;
};

static int stands_out(const void *about, uint32_t rank)
{
    const struct standing *const standing = about;

    return standing->stands(standing->peers, standing->trials, rank);
}

static int is_granted(
    const struct peers *peers, const struct trial *trials, uint32_t rank)
{
    (void)peers;
    return trials[rank].code == 0;
}

static int is_linked(
    const struct peers *peers, const struct trial *trials, uint32_t rank)
{
    (void)trials;
    return peers_are_linked(&peers->facts->gpus[0], &peers->facts->gpus[rank]);
}

static int has_fabric(
    const struct peers *peers, const struct trial *trials, uint32_t rank)
{
    (void)trials;
    return peers_are_linked(
        &peers->facts->gpus[rank], &peers->facts->gpus[rank]);
}

static int is_near(
    const struct peers *peers, const struct trial *trials, uint32_t rank)
{
    (void)trials;
    return peers_are_near(peers, 0, rank);
}

/* Whether the other rank's GPU was shown to this one, as far as it knows. */
static int is_shown(const struct pair_facts *pair)
{
    return pair != NULL && pair->access >= 0;
}

static int has_access(
    const struct peers *peers, const struct trial *trials, uint32_t rank)
{
    const struct facts *const facts = peers->facts;

    (void)trials;
    for (uint32_t i = 0; i < peers->ranks; i++) {
        const struct pair_facts *const pair = facts_pair(facts, rank, i);

        if (i != rank && (pair == NULL || pair->access == 0)) {
            return 0;
        }
    }
    return 1;
}

static const char *list_others(const struct peers *peers,
    const struct trial *trials, stands_fn *stands, struct arena *arena)
{
    const struct standing standing = { peers, trials, stands };

    return peers_list_others(peers->ranks, stands_out, &standing, arena);
}

/* In order: why ranks cannot share memory, of those on one host and of those
 * on several. */
static int32_t refuse(
    struct team_frame *out, const char *reason, const char *message)
{
    out->reason = reason;
    out->message = message;
    return NVBW_OK;
}

static int32_t choose_near(struct peers *peers, const struct trial *trials,
    struct arena *arena, struct team_frame *out)
{
    const char *const list = list_others(peers, trials, has_access, arena);

    if (list != NULL) {
        return refuse(out, "no_peer_access",
            arena_format(arena,
                "the GPUs of ranks %s cannot address the memory of all others",
                list));
    }
    peers->handle = PEERS_DESCRIPTOR;
    return NVBW_OK;
}

static int32_t choose_far(const struct peers *peers, const struct trial *trials,
    struct arena *arena, struct team_frame *out)
{
    const char *const near = list_others(peers, trials, is_near, arena);
    const char *const bare = list_others(peers, trials, has_fabric, arena);
    const char *const refused = list_others(peers, trials, is_granted, arena);

    if (bare != NULL) {
        return refuse(out, "no_fabric",
            arena_format(arena,
                "ranks %s are on other hosts than rank 0, and ranks %s are in "
                "no NVLink fabric (cluster UUID zero or fabric not completed): "
                "this is no multi-node NVLink domain; links over InfiniBand or "
                "Ethernet are measured with nccl-tests or perftest",
                near, bare));
    }
    return refuse(out, "no_imex_channel",
        arena_format(arena,
            "ranks %s get no fabric handle (CUDA error %lld): a node needs the "
            "IMEX daemon (systemctl start nvidia-imex) and a channel in "
            "/dev/nvidia-caps-imex-channels",
            refused,
            trials == NULL
                ? 0LL
                : (long long)trials[strtoul(refused, NULL, 10)].code));
}

static int32_t choose(struct peers *peers, const struct trial *trials,
    struct arena *arena, struct team_frame *out)
{
    const char *const refused = list_others(peers, trials, is_granted, arena);
    const char *const apart = list_others(peers, trials, is_linked, arena);
    const char *const bare = list_others(peers, trials, has_fabric, arena);
    const char *const far = list_others(peers, trials, is_near, arena);

    if (bare == NULL && apart != NULL) {
        return refuse(out, "no_fabric",
            arena_format(arena,
                "ranks %s are in another NVLink clique than rank 0: start one "
                "job for each clique",
                apart));
    }
    if (refused == NULL && bare == NULL) {
        peers->handle = PEERS_FABRIC;
        return NVBW_OK;
    }
    return far == NULL ? choose_near(peers, trials, arena, out)
                       : choose_far(peers, trials, arena, out);
}

/* To the sockets of all others, which are on this host. */
static int32_t connect_all(struct peers *peers, const struct trial *trials,
    struct arena *arena, struct error *err)
{
    peers->others = arena_alloc(arena, peers->ranks, sizeof *peers->others);
    FAIL_IF(peers->others == NULL, err, NVBW_E_SYSTEM, "no memory for sockets");
    for (uint32_t i = 0; i < peers->ranks; i++) {
        peers->others[i] = -1;
        if (i != peers->rank) {
            TRY(peers_socket_connect(trials[i].path, &peers->others[i], err));
        }
    }
    return NVBW_OK;
}

/* What all tried, what follows from it, and a way to send descriptors. */
static int32_t share_trials(struct peers *peers, int32_t status,
    const struct trial *mine, struct trial *trials, struct arena *arena,
    struct team_frame *out, struct error *err)
{
    TRY(peers_check(peers, "GPUs", status, err));
    TRY(peers_gather(peers, "handles", mine, trials, sizeof *mine, err));
    TRY(choose(peers, trials, arena, out));
    return peers->handle != PEERS_DESCRIPTOR
               ? NVBW_OK
               : peers_check(peers, "sockets",
                     connect_all(peers, trials, arena, err), err);
}

/* ---- GPUs that a rank was not shown ---- */

static int all_are_shown(const struct facts *facts)
{
    for (uint32_t i = 0; i < facts->pairs_count; i++) {
        if (!is_shown(&facts->pairs[i])) {
            return 0;
        }
    }
    return 1;
}

/* Of whom the trial said that its memory is mapped by all. */
static int is_proved(const void *about, uint32_t rank)
{
    const int32_t *const proofs = about;

    return proofs[rank] >= 0;
}

/* Whether memory of a GPU that a process does not see can be mapped there, only
 * trying tells: the memory of each rank in turn, by all. */
static int32_t prove_all(struct peers *peers, struct engine *engine,
    int32_t *proofs, struct error *out_first, struct error *err)
{
    for (uint32_t i = 0; i < peers->ranks; i++) {
        struct shared_memory memory;
        struct error why = { 0 };

        proofs[i] = peers_map(peers, engine, i, PROOF_BYTES, &memory, &why);
        if (proofs[i] == PEERS_E_LOST) {
            return error_set(err, PEERS_E_LOST, "%s", why.text);
        }
        if (proofs[i] >= 0) {
            peers_unmap(engine, &memory);
        } else if (out_first->status >= 0) {
            *out_first = why;
            out_first->status = proofs[i];
        }
    }
    return NVBW_OK;
}

static int32_t prove_hidden(struct peers *peers, struct engine *engine,
    struct facts *facts, struct arena *arena, struct team_frame *out,
    struct error *err)
{
    int32_t *const proofs = arena_alloc(arena, peers->ranks, sizeof *proofs);
    struct error first = { 0 };

    FAIL_IF(proofs == NULL, err, NVBW_E_SYSTEM, "no memory for %u ranks",
        peers->ranks);
    TRY(prove_all(peers, engine, proofs, &first, err));

    const char *const list =
        peers_list_others(peers->ranks, is_proved, proofs, arena);

    if (list != NULL) {
        peers->handle = PEERS_NO_HANDLE;
        return refuse(out, "peer_not_visible",
            arena_format(arena,
                "the memory of ranks %s cannot be mapped by ranks that do not "
                "see their GPUs (%.400s): start them with all GPUs visible (no "
                "CUDA_VISIBLE_DEVICES, no --gpus-per-task); each rank uses one "
                "by itself",
                list, first.text));
    }
    for (uint32_t i = 0; i < facts->pairs_count; i++) {
        if (!is_shown(&facts->pairs[i])) {
            facts->pairs[i].access = 1;
        }
    }
    return NVBW_OK;
}

int32_t peers_open_sharing(struct peers *peers, struct engine *engine,
    struct facts *facts, struct arena *arena, struct team_frame *out,
    struct error *err)
{
    static const char *const names[] = { NULL, "descriptor", "fabric" };
    struct trial *const trials =
        arena_alloc(arena, peers->ranks, sizeof *trials);
    struct gpu *gpu = NULL;
    struct trial mine = { 0 };
    int32_t status = trials == NULL
                         ? error_set(err, NVBW_E_SYSTEM,
                               "no memory for %u ranks", peers->ranks)
                         : engine_gpu(engine, (int32_t)peers->rank, &gpu, err);

    if (status >= 0) {
        mine.code = try_fabric(gpu);
        status = peers_socket_open(&peers->socket, mine.path, err);
    }
    status = share_trials(peers, status, &mine, trials, arena, out, err);
    peers_socket_unname(mine.path);
    TRY(status);
    if (peers->handle == PEERS_DESCRIPTOR && !all_are_shown(facts)) {
        TRY(prove_hidden(peers, engine, facts, arena, out, err));
    }
    out->rank = peers->rank;
    out->ranks = peers->ranks;
    out->handle = names[peers->handle];
    return NVBW_OK;
}
