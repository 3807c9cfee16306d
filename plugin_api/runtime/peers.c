/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

#define NS_PER_S 1e9

enum {
    NAMED_MOST = 8,         /* of lost ranks, in a sentence */
    SPREAD_ROUND = 1 << 20, /* bytes that one round of peers_spread costs */
    SPREAD_LEAST = 1 << 10, /* of these, at least, for each rank */
    SPREAD_MOST = 64 << 20  /* in all */
};

/* In which step nobody fails but who leaves a task before its end. */
static const char leaving[] = "end of task";
/* Instead of a length: rank 0 has no task yet. */
static const uint64_t nothing_yet = UINT64_MAX;
static const uint64_t follow_ns =
    PEERS_PATIENCE_S * UINT64_C(1000) * 1000 * 1000;

/* What every rank says beside its bytes. */
struct word {
    uint64_t number; /* of the step, from 1; 0: it said nothing */
    int32_t status;
    uint32_t unused;
    int64_t code;
    char step[24];
    char text[464];
};

int peers_are_near(const struct peers *peers, uint32_t one, uint32_t other)
{
    return strcmp(peers->nodes[one], peers->nodes[other]) == 0;
}

/* "rank 3 (host b)" */
static void name_rank(
    const struct peers *peers, uint32_t rank, char *out, size_t size)
{
    const char *const host =
        peers->facts != NULL ? peers->facts->gpus[rank].host : NULL;

    if (host == NULL) {
        snprintf(out, size, "rank %u", rank);
    } else {
        snprintf(out, size, "rank %u (host %s)", rank, host);
    }
}

/* One gathering in progress: an entry of every rank, each beginning with the
 * number of the step. */
struct gathering {
    struct peers *peers;
    const char *step;
    unsigned char *mine, *all;
    size_t entry_bytes;
    uint64_t patience_ns;
};

static uint64_t number_of(const struct gathering *gathering, uint32_t rank)
{
    uint64_t number = 0;

    memcpy(
        &number, gathering->all + rank * gathering->entry_bytes, sizeof number);
    return number;
}

static const struct word *word_of(
    const struct gathering *gathering, uint32_t rank)
{
    return (const void *)(gathering->all + rank * gathering->entry_bytes);
}

/* Those that said nothing, as far as a sentence has room. */
static void name_silent(
    const struct gathering *gathering, char *out, size_t size)
{
    const struct peers *const peers = gathering->peers;
    uint32_t count = 0;

    snprintf(out, size, "a rank");
    for (uint32_t i = 0; i < peers->ranks && count <= NAMED_MOST; i++) {
        char name[80];

        if (number_of(gathering, i) != 0) {
            continue;
        }
        name_rank(peers, i, name, sizeof name);

        const size_t used = count == 0 ? 0 : strlen(out);

        snprintf(out + used, size - used, "%s%s", count == 0 ? "" : ", ",
            count == NAMED_MOST ? "and others" : name);
        count++;
    }
}

static int32_t lose(const struct gathering *gathering, struct error *err)
{
    struct peers *const peers = gathering->peers;
    char names[NAMED_MOST * 88];

    name_silent(gathering, names, sizeof names);
    error_set(&peers->lost, PEERS_E_LOST,
        "%s did not answer within %.3g s in step \"%s\": the process ended, or "
        "hangs in the driver or in MPI",
        names, (double)gathering->patience_ns / NS_PER_S, gathering->step);
    if (err != NULL) {
        *err = peers->lost;
    }
    return PEERS_E_LOST;
}

/* Who is somewhere else has come by another way, and cannot be waited for. */
static int32_t check_steps(struct gathering *gathering, struct error *err)
{
    struct peers *const peers = gathering->peers;
    char name[80];

    for (uint32_t i = 0; i < peers->ranks; i++) {
        const struct word *const word = word_of(gathering, i);

        if (word->status < 0 ||
            (word->number == peers->steps &&
                strncmp(word->step, gathering->step, sizeof word->step) == 0)) {
            continue;
        }
        name_rank(peers, i, name, sizeof name);
        error_set(&peers->lost, PEERS_E_LOST,
            "%s is in step %llu, \"%.24s\", where this rank is in step %llu, "
            "\"%s\"",
            name, (unsigned long long)word->number, word->step,
            (unsigned long long)peers->steps, gathering->step);
        if (err != NULL) {
            *err = peers->lost;
        }
        return PEERS_E_LOST;
    }
    return NVBW_OK;
}

/* A rank that left the task in which this one still is comes to no step of it
 * any more. */
static int32_t lose_leaver(
    const struct gathering *gathering, uint32_t rank, struct error *err)
{
    struct peers *const peers = gathering->peers;
    char name[80];

    name_rank(peers, rank, name, sizeof name);
    error_set(&peers->lost, PEERS_E_LOST,
        "%s left when this rank came to step \"%s\": %.464s", name,
        gathering->step, word_of(gathering, rank)->text);
    if (err != NULL) {
        *err = peers->lost;
    }
    return PEERS_E_LOST;
}

static int has_left(const struct gathering *gathering, const struct word *word)
{
    return strcmp(gathering->step, leaving) != 0 &&
           strncmp(word->step, leaving, sizeof word->step) == 0;
}

/* The word of the first that failed. */
static int32_t check_words(struct gathering *gathering, struct error *err)
{
    struct peers *const peers = gathering->peers;
    char name[80];

    for (uint32_t i = 0; i < peers->ranks; i++) {
        const struct word *const word = word_of(gathering, i);

        if (word->status >= 0) {
            continue;
        }
        if (has_left(gathering, word)) {
            return lose_leaver(gathering, i, err);
        }
        name_rank(peers, i, name, sizeof name);
        error_set(err, word->status, "%s, in step \"%.24s\": %.464s", name,
            word->step, word->text);
        if (err != NULL) {
            err->code = word->code;
        }
        peers->agreed = 1;
        return word->status;
    }
    return check_steps(gathering, err);
}

static int32_t meet(struct gathering *gathering, struct error *err)
{
    struct peers *const peers = gathering->peers;
    const uint64_t now_ns = clock_machine_ns();
    const uint64_t left_ns = (uint64_t)INT64_MAX - now_ns;
    const int64_t deadline_ns =
        gathering->patience_ns > left_ns
            ? INT64_MAX
            : (int64_t)(now_ns + gathering->patience_ns);

    return peers->allgather(peers->ctx, gathering->mine, gathering->all,
               gathering->entry_bytes, deadline_ns) < 0
               ? lose(gathering, err)
               : NVBW_OK;
}

static int32_t open_gathering(
    struct gathering *gathering, size_t bytes, struct error *err)
{
    gathering->entry_bytes = (bytes + 7) / 8 * 8;
    gathering->mine = calloc(1, gathering->entry_bytes);
    gathering->all = calloc(gathering->peers->ranks, gathering->entry_bytes);
    FAIL_IF(gathering->mine == NULL || gathering->all == NULL, err,
        NVBW_E_SYSTEM, "no memory for what %u ranks say",
        gathering->peers->ranks);
    memcpy(gathering->mine, &gathering->peers->steps,
        sizeof gathering->peers->steps);
    return NVBW_OK;
}

static void close_gathering(struct gathering *gathering)
{
    free(gathering->mine);
    free(gathering->all);
    gathering->mine = NULL;
    gathering->all = NULL;
}

/* First how everybody is, since who failed brings no bytes. */
static int32_t gather_words(
    struct gathering *gathering, const struct error *what, struct error *err)
{
    int32_t status = open_gathering(gathering, sizeof(struct word), err);

    if (status >= 0) {
        struct word *const word = (void *)gathering->mine;

        snprintf(word->step, sizeof word->step, "%s", gathering->step);
        if (what != NULL) {
            word->status = what->status;
            word->code = what->code;
            snprintf(word->text, sizeof word->text, "%.463s", what->text);
        }
        status = meet(gathering, err);
    }
    if (status >= 0) {
        status = check_words(gathering, err);
    }
    close_gathering(gathering);
    return status;
}

static int32_t gather_bytes(struct gathering *gathering, const void *mine,
    void *out, size_t bytes, struct error *err)
{
    const size_t head = sizeof gathering->peers->steps;
    int32_t status = open_gathering(gathering, head + bytes, err);

    if (status >= 0) {
        memcpy(gathering->mine + head, mine, bytes);
        status = meet(gathering, err);
    }
    for (uint32_t i = 0; status >= 0 && i < gathering->peers->ranks; i++) {
        memcpy((unsigned char *)out + i * bytes,
            gathering->all + i * gathering->entry_bytes + head, bytes);
    }
    close_gathering(gathering);
    return status;
}

/* Begins a step. what: this rank's own failure, or NULL. */
static int32_t begin_step(struct peers *peers, const char *step,
    uint64_t patience_ns, const struct error *what, struct gathering *out,
    struct error *err)
{
    *out = (struct gathering){
        .peers = peers, .step = step, .patience_ns = patience_ns
    };
    if (peers->lost.status < 0) {
        if (err != NULL) {
            *err = peers->lost;
        }
        return PEERS_E_LOST;
    }
    peers->steps++;
    peers->agreed = 0;
    return gather_words(out, what, err);
}

static int32_t gather(struct peers *peers, const char *step,
    uint64_t patience_ns, const void *mine, void *out, size_t bytes,
    struct error *err)
{
    struct gathering gathering;

    TRY(begin_step(peers, step, patience_ns, NULL, &gathering, err));
    return bytes > 0 ? gather_bytes(&gathering, mine, out, bytes, err)
                     : NVBW_OK;
}

int32_t peers_gather(struct peers *peers, const char *step, const void *mine,
    void *out, size_t bytes, struct error *err)
{
    return gather(peers, step, peers->step_ns, mine, out, bytes, err);
}

int32_t peers_gather_long(struct peers *peers, const char *step,
    const void *mine, void *out, size_t bytes, struct error *err)
{
    return gather(peers, step,
        peers->sample_ns > peers->step_ns ? peers->sample_ns : peers->step_ns,
        mine, out, bytes, err);
}

int32_t peers_check(
    struct peers *peers, const char *step, int32_t status, struct error *err)
{
    struct error local = { 0 };
    struct error *const told = err != NULL ? err : &local;
    struct gathering gathering;

    if (status < 0 && (peers->agreed || peers->lost.status < 0)) {
        return status;
    }

    struct error what = *told;

    what.status = status;
    return begin_step(peers, step, peers->step_ns, status < 0 ? &what : NULL,
        &gathering, told);
}

int32_t peers_agree(
    struct peers *peers, const char *step, int32_t status, struct error *err)
{
    status = peers_check(peers, step, status, err);
    peers->agreed = 0;
    return status;
}

int32_t peers_leave(
    struct peers *peers, const struct error *what, struct error *err)
{
    if (what == NULL) {
        return peers_agree(peers, leaving, NVBW_OK, err);
    }

    struct error why = *what;

    peers->agreed = 0;
    return peers_agree(peers, leaving, what->status, &why);
}

/* ---- From rank 0 to all others ---- */

/* Rank 0's length; the others wait until it has one. */
static int32_t gather_length(struct peers *peers, const char *step,
    uint64_t *length, uint64_t *lengths, struct error *err)
{
    const uint64_t own = *length;

    do {
        TRY(gather(peers, step, peers->rank == 0 ? peers->step_ns : follow_ns,
            &own, lengths, sizeof own, err));
    } while (peers->rank != 0 && lengths[0] == nothing_yet);
    *length = lengths[0];
    return NVBW_OK;
}

static int32_t share_length(
    struct peers *peers, const char *step, uint64_t *length, struct error *err)
{
    uint64_t *const lengths = calloc(peers->ranks, sizeof *lengths);

    FAIL_IF(lengths == NULL, err, NVBW_E_SYSTEM, "no memory for a length");

    const int32_t status = gather_length(peers, step, length, lengths, err);

    free(lengths);
    return status;
}

int32_t peers_stay(struct peers *peers, const char *step, struct error *err)
{
    uint64_t length = nothing_yet;

    return share_length(peers, step, &length, err);
}

static int32_t spread_length(
    struct peers *peers, const char *step, size_t *length, struct error *err)
{
    uint64_t shared = *length;

    TRY(share_length(peers, step, &shared, err));
    *length = shared;
    FAIL_IF(*length > SPREAD_MOST, err, NVBW_E_SYSTEM,
        "a task of %zu bytes is too large", *length);
    return NVBW_OK;
}

static int32_t spread_parts(struct peers *peers, const char *step,
    unsigned char *data, size_t length, struct error *err)
{
    const size_t share = SPREAD_ROUND / peers->ranks;
    const size_t part = share > SPREAD_LEAST ? share : SPREAD_LEAST;
    unsigned char *const mine = calloc(1, part);
    unsigned char *const all = calloc(peers->ranks, part);
    int32_t status = NVBW_OK;

    if (mine == NULL || all == NULL) {
        status = error_set(err, NVBW_E_SYSTEM, "no memory for a task");
    }
    for (size_t at = 0; status >= 0 && at < length; at += part) {
        const size_t bytes = length - at < part ? length - at : part;

        if (peers->rank == 0) {
            memcpy(mine, data + at, bytes);
        }
        status = peers_gather(peers, step, mine, all, part, err);
        if (status >= 0 && peers->rank != 0) {
            memcpy(data + at, all, bytes);
        }
    }
    free(mine);
    free(all);
    return status;
}

int32_t peers_spread(struct peers *peers, const char *step, struct arena *arena,
    const void **data, size_t *length, struct error *err)
{
    unsigned char *bytes = NULL;

    TRY(spread_length(peers, step, length, err));
    bytes = arena_alloc(arena, *length + 1, 1);
    FAIL_IF(bytes == NULL, err, NVBW_E_SYSTEM, "no memory for a task");
    if (peers->rank == 0 && *length > 0) {
        memcpy(bytes, *data, *length);
    }
    TRY(spread_parts(peers, step, bytes, *length, err));
    *data = bytes;
    return NVBW_OK;
}
