/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "team.h"

#include <stdio.h>
#include <string.h>

#include "ask.h"
#include "host_clock.h"
#include "state.h"

enum { TEAM_ARENA_BYTES = 1 << 20 };

/* MPI starts when all ranks are there, and these start their drivers. */
static const uint64_t join_ns = UINT64_C(150) * 1000 * 1000 * 1000;
/* After its worker's end a follower waits for the launcher to end the job: rank
 * 0 notices when its patience ends, a minute at most, and writes its report. */
static const uint64_t linger_ns = UINT64_C(90) * 1000 * 1000 * 1000;

static const uint64_t linger_stopped_ns = UINT64_C(5) * 1000 * 1000 * 1000;

static int32_t take_team(
    struct team *team, const struct team_frame *frame, struct error *err)
{
    FAIL_IF(frame->ranks == 0 || frame->rank >= frame->ranks, err,
        NVBW_E_INVALID, "rank %u of %u is no place in a job", frame->rank,
        frame->ranks);
    team->rank = frame->rank;
    team->ranks = frame->ranks;
    team->handle = arena_text(team->arena, frame->handle);
    team->reason = arena_text(team->arena, frame->reason);
    team->message = arena_text(team->arena, frame->message);
    return NVBW_OK;
}

static int32_t take_done(struct team *team, const struct done_frame *done)
{
    const struct reason *const reason = reason_find(done->state, done->reason);

    team->done = 1;
    team->cause.reason = reason != NULL ? reason->code : NULL;
    team->status = done->status;
    snprintf(team->cause.text, sizeof team->cause.text, "%s",
        done->message != NULL ? done->message : status_name(done->status));
    team->cause.state = done->state;
    return NVBW_OK;
}

static int32_t take_frame(struct worker *worker, uint32_t type,
    const void *object, size_t payload_bytes, struct error *err)
{
    struct team *const team = worker->user;

    (void)payload_bytes;
    switch (type) {
    case FRAME_TEAM:
        return take_team(team, object, err);
    case FRAME_FACTS:
        TRY(fields_copy(&facts_fields, object, team->arena, &team->facts, err));
        team->has_facts = 1;
        return NVBW_OK;
    case FRAME_DONE:
        return take_done(team, object);
    case FRAME_LOG:
    case FRAME_LABELS:
        return NVBW_OK;
    default:
        return error_set(err, NVBW_E_INVALID,
            "a frame of type %u came while MPI was started", type);
    }
}

static int32_t start(
    const struct team_request *request, struct team *team, struct error *err)
{
    struct arena arena;
    struct worker_start start;

    arena_init(&arena, TEAM_ARENA_BYTES);

    int32_t status = ask_worker_start(
        request->setup, "run", NULL, request->facts, &arena, &start, err);

    if (status >= 0) {
        start.on_frame = take_frame;
        start.user = team;
        start.keep = "PMI_FD"; /* by it MPICH talks to its launcher */
        status = crew_start(&team->crew, &team->worker, &start, err);
    }
    arena_clear(&arena);
    return status;
}

static int32_t ask(
    const struct team_request *request, struct team *team, struct error *err)
{
    const struct task_frame task = { .role = TASK_JOIN,
        .plugin_file = request->plugin_file,
        .driver_file = request->setup->driver_file,
        .gpus = request->gpus,
        .gpus_count = request->gpus_count,
        .mpi_plugins = request->plugins,
        .mpi_plugins_count = request->plugins_count };

    TRY(worker_send(&team->worker, FRAME_FACTS, request->facts, err));
    TRY(worker_send(&team->worker, FRAME_TASK, &task, err));
    worker_allow(&team->worker, join_ns);
    while (!team->done && worker_is_up(&team->worker)) {
        TRY(crew_step(&team->crew, UINT64_MAX, err));
    }
    return NVBW_OK;
}

/* A worker that ended without an answer. */
static int32_t lost_worker(struct team *team, struct error *err)
{
    struct cause cause;

    worker_end_cause(&team->worker.end, "run", &cause);
    team->cause.state = cause.state;
    team->cause.reason = cause.reason;
    return error_set(err, NVBW_E_SYSTEM,
        "MPI did not start: %.700s; start it as mpirun -np 8 nvbw-host --mpi "
        "-c PLAN, or with srun",
        cause.text);
}

static int32_t conclude(struct team *team, struct error *err)
{
    if (!team->done) {
        return lost_worker(team, err);
    }
    if (team->status < 0 || team->cause.state != STATE_NONE ||
        !team->has_facts) {
        team->told = team->ranks > 0;
        if (team->cause.state == STATE_NONE) {
            team->cause.state = STATE_ERROR;
            team->cause.reason = "system";
        }
        return error_set(err,
            team->told && team->status == NVBW_E_INVALID ? NVBW_E_INVALID
                                                         : NVBW_E_SYSTEM,
            "MPI: %.900s", team->cause.text);
    }
    worker_allow(&team->worker, UINT64_MAX);
    return NVBW_OK;
}

int32_t team_join(
    const struct team_request *request, struct team *out, struct error *err)
{
    *out = (struct team){ .arena = request->arena };
    crew_open(&out->crew, -1);

    int32_t status = start(request, out, err);

    if (status >= 0) {
        status = ask(request, out, err);
    }
    if (status >= 0) {
        status = conclude(out, err);
    }
    if (status < 0) {
        team_leave(out);
    }
    return status;
}

/* Lets the worker end MPI by itself. */
void team_leave(struct team *team)
{
    static const struct quit_frame quit = { 0 };

    if (team->worker.stage == WORKER_LIVE &&
        worker_send(&team->worker, FRAME_QUIT, &quit, NULL) >= 0) {
        worker_allow(&team->worker, team->worker.grace_ns);
        while (worker_is_up(&team->worker) &&
               crew_step(&team->crew, UINT64_MAX, NULL) >= 0) {
        }
    }
    crew_close(&team->crew);
}

static int has_left_mpi(const struct worker_end *end)
{
    return end->has_bye && strcmp(end->bye_why, "finished") == 0;
}

/* Rank 0 knows of others that were lost, and of what a rank could say before it
 * ended; how a worker died is known here alone. */
static int32_t tell_end(const struct team *team, struct error *err)
{
    const struct worker_end *const end = &team->worker.end;
    const struct gpu_facts *const gpu = &team->facts.gpus[team->rank];
    struct cause cause;

    if (worker_is_up(&team->worker) || team->crew.signals > 0 ||
        has_left_mpi(end) ||
        (end->has_bye && strcmp(end->bye_why, "team") == 0)) {
        return NVBW_OK;
    }
    worker_end_cause(end, "run", &cause);
    return error_set(err, NVBW_E_SYSTEM, "rank %u (host %s): %.900s",
        team->rank, gpu->host != NULL ? gpu->host : "unknown", cause.text);
}

/* Until the launcher ends the job. One that was told to end it gives its
 * processes a second to do so, and takes the first that ends for the last
 * (mpirun's wait is cut short by it): rank 0 needs that second. */
static int32_t linger(struct team *team, struct error *err)
{
    const uint32_t enough = team->crew.signals + 1;
    const uint64_t until_ns = host_clock_after(host_clock_ns(),
        team->crew.signals > 0 ? linger_stopped_ns : linger_ns);
    int32_t status = NVBW_OK;

    while (status >= 0 && !has_left_mpi(&team->worker.end) &&
           team->crew.signals < enough && host_clock_ns() < until_ns) {
        status = crew_step(&team->crew, until_ns, err);
    }
    return status;
}

int32_t team_follow(struct team *team, int signal_fd,
    void (*tell)(const struct error *why), struct error *err)
{
    const struct task_frame task = { .role = TASK_FOLLOW };
    int32_t status = worker_send(&team->worker, FRAME_TASK, &task, err);
    struct error why = { 0 };

    team->crew.signal_fd = signal_fd;
    while (
        status >= 0 && worker_is_up(&team->worker) && team->crew.signals == 0) {
        status = crew_step(&team->crew, UINT64_MAX, err);
    }
    if (team->crew.signals > 0) {
        worker_stop(&team->worker, 0);
    }
    if (status >= 0 && tell_end(team, &why) < 0) {
        tell(&why); /* before the launcher ends it all */
    }
    if (status >= 0) {
        status = linger(team, err);
    }
    crew_close(&team->crew);
    return status;
}

void team_hand_over(struct team *team, struct crew *crew, struct worker *worker)
{
    *crew = team->crew;
    *worker = team->worker;
    for (uint32_t i = 0; i < crew->count; i++) {
        if (crew->workers[i] == &team->worker) {
            crew->workers[i] = worker;
        }
    }
    team->worker.stage = WORKER_NONE;
    team->crew.count = 0;
}
