/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "worker_team.h"

#include "peers.h"
#include "strbuf.h"

/* Patience with the other ranks while the team is formed: drivers of large
 * machines take their time to start, and not all at the same time. */
static const uint64_t forming_ns = UINT64_C(60) * 1000 * 1000 * 1000;
/* While it measures, at most, and the share of a cell's time that it may take:
 * a cell whose rank was lost is to be told by this worker, not by its end. */
static const uint64_t step_most_ns = UINT64_C(20) * 1000 * 1000 * 1000;
static const uint64_t step_least_ns = UINT64_C(500) * 1000 * 1000;
enum { STEP_SHARE = 3 };

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

static int32_t form(struct worker *worker, const struct task_frame *task,
    struct team_frame *out, struct error *err)
{
    struct facts *const all = arena_alloc(&worker->arena, 1, sizeof *all);

    FAIL_IF(all == NULL, err, NVBW_E_SYSTEM, "no memory for the facts");
    TRY(peers_make_facts(worker->peers, worker->facts, task->gpus,
        task->gpus_count, &worker->arena, all, err));
    worker->facts = all;
    TRY(worker_need_engine(worker, task, err));
    return peers_open_sharing(
        worker->peers, worker->engine, &worker->arena, out, err);
}

int32_t worker_team_form(struct worker *worker, const struct task_frame *task,
    struct team_frame *out, struct error *err)
{
    TRY(peers_agree(worker->peers, "form", form(worker, task, out, err), err));
    worker->peers->formed = 1;
    return NVBW_OK;
}

/* A third of what a cell has, so that there is time left to tell. */
static void set_patience(struct peers *peers, const struct task_frame *task)
{
    const uint64_t share_ns = task->unit.timeout_ns / STEP_SHARE;

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
