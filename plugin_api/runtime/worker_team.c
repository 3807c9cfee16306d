/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "worker_team.h"

#include <stdio.h>

#include "peers.h"
#include "strbuf.h"
#include "version.h"

#define HASH_BASIS UINT64_C(14695981039346656037)
#define HASH_PRIME UINT64_C(1099511628211)

enum { HASH_CHUNK = 4096 };

/* Patience with the other ranks while the team is formed: drivers of large
 * machines take their time to start, and not all at the same time. */
static const uint64_t forming_ns = UINT64_C(60) * 1000 * 1000 * 1000;
/* While it measures, at most, and the share of a cell's time that it may take:
 * a cell whose rank was lost is to be told by this worker, not by its end. */
static const uint64_t step_most_ns = UINT64_C(20) * 1000 * 1000 * 1000;
static const uint64_t step_least_ns = UINT64_C(500) * 1000 * 1000;
static const uint64_t sample_most_ns = UINT64_C(60) * 1000 * 1000 * 1000;
enum { STEP_SHARE = 3 };
/* What it takes to find out who is missing, after patience has ended. */
static const uint64_t telling_ns = UINT64_C(2) * 1000 * 1000 * 1000;

int32_t worker_team_open(
    struct worker *worker, struct service *service, struct error *err)
{
    FAIL_IF(service->allgather == NULL || service->ranks == 0, err,
        NVBW_E_INVALID,
        "C5: plugin %s: init of an MPI plugin has to call lend() and join()",
        service->plugin.schema.name);
    worker->peers = arena_alloc(&worker->arena, 1, sizeof *worker->peers);
    FAIL_IF(worker->peers == NULL, err, NVBW_E_SYSTEM, "no memory for a team");
    *worker->peers = (struct peers){ .rank = service->rank,
        .ranks = service->ranks,
        .ctx = &service->ctx,
        .allgather = service->allgather,
        .step_ns = forming_ns,
        .socket = -1 };
    return NVBW_OK;
}

/* FNV-1a over the bytes of a file, going on from hash. */
static int32_t hash_file(const char *path, uint64_t *hash, struct error *err)
{
    unsigned char bytes[HASH_CHUNK];
    FILE *const file = fopen(path, "rb");
    size_t count = 0;

    if (file == NULL) {
        return error_system(err, "plugin %s cannot be read", path);
    }
    while ((count = fread(bytes, 1, sizeof bytes, file)) > 0) {
        for (size_t i = 0; i < count; i++) {
            *hash = (*hash ^ bytes[i]) * HASH_PRIME;
        }
    }
    fclose(file);
    return NVBW_OK;
}

static int32_t compare_kinds(
    struct worker *worker, const struct task_frame *task, struct error *err)
{
    struct peers_kind kind = { .plugins = HASH_BASIS };
    int32_t status = NVBW_OK;

    snprintf(kind.build, sizeof kind.build, "%s", NVBW_BUILD);
    for (uint32_t i = 0; status >= 0 && i < task->mpi_plugins_count; i++) {
        status = hash_file(task->mpi_plugins[i], &kind.plugins, err);
    }
    TRY(peers_check(worker->peers, "own build", status, err));
    return peers_compare_kinds(worker->peers, &kind, &worker->arena, err);
}

static int32_t form(struct worker *worker, const struct task_frame *task,
    struct team_frame *out, struct error *err)
{
    struct facts *const all = arena_alloc(&worker->arena, 1, sizeof *all);

    FAIL_IF(all == NULL, err, NVBW_E_SYSTEM, "no memory for the facts");
    TRY(compare_kinds(worker, task, err));
    TRY(peers_make_facts(worker->peers, worker->facts, task->gpus,
        task->gpus_count, &worker->arena, all, err));
    worker->facts = all;
    TRY(worker_need_engine(worker, task, err));
    return peers_open_sharing(
        worker->peers, worker->engine, all, &worker->arena, out, err);
}

int32_t worker_team_form(struct worker *worker, const struct task_frame *task,
    struct team_frame *out, struct error *err)
{
    TRY(peers_agree(worker->peers, "form", form(worker, task, out, err), err));
    worker->peers->formed = 1;
    return NVBW_OK;
}

/* A third of what a cell has, so that there is time left to tell; two where a
 * sample may last. */
static void set_patience(struct peers *peers, const struct task_frame *task)
{
    const uint64_t share_ns = task->unit.timeout_ns / STEP_SHARE;
    const uint64_t long_ns = (STEP_SHARE - 1) * share_ns;

    peers->sample_ns = long_ns > telling_ns ? long_ns - telling_ns : 0;
    if (peers->sample_ns > sample_most_ns) {
        peers->sample_ns = sample_most_ns;
    }

    peers->step_ns =
        share_ns == 0 || share_ns > step_most_ns ? step_most_ns : share_ns;
    if (peers->step_ns < step_least_ns) {
        peers->step_ns = step_least_ns;
    }
}

int32_t worker_team_pass(struct worker *worker, const struct task_frame *task,
    struct arena *arena, struct error *err)
{
    struct strbuf buf;
    const void *data = NULL;
    size_t length = 0;

    strbuf_init(&buf, WIRE_FRAME_LIMIT);
    if (task != NULL) {
        set_patience(worker->peers, task);
        fields_encode(&task_fields, task, &buf);
        data = buf.text;
        length = buf.length;
    }

    int32_t status = NVBW_OK;

    if (buf.failed) {
        status = error_set(err, NVBW_E_SYSTEM, "no memory for a task");
    } else {
        status =
            peers_spread(worker->peers, "task", arena, &data, &length, err);
    }
    strbuf_free(&buf);
    return status;
}

int32_t worker_team_stay(struct worker *worker, struct error *err)
{
    return peers_stay(worker->peers, "task", err);
}

int32_t worker_team_take(struct worker *worker, struct arena *arena,
    struct task_frame **out, struct error *err)
{
    const void *data = NULL;
    size_t length = 0;

    *out = NULL;
    TRY(peers_spread(worker->peers, "task", arena, &data, &length, err));
    if (length == 0) {
        return NVBW_OK;
    }
    *out = arena_alloc(arena, 1, sizeof **out);
    FAIL_IF(*out == NULL, err, NVBW_E_SYSTEM, "no memory for a task");
    TRY(fields_decode(&task_fields, data, length, arena, *out, err));
    set_patience(worker->peers, *out);
    return NVBW_OK;
}
