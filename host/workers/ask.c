/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "ask.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "state.h"
#include "worker_environment.h"

enum { ASK_ARENA_BYTES = 1 << 20 };
static const uint64_t GRACE_NS = 2000000000u;

int32_t ask_worker_start(const struct worker_setup *setup, const char *role,
    const char *devices, const struct facts *facts, struct arena *arena,
    struct worker_start *out, struct error *err)
{
    const int is_wrapped = setup->wrap != NULL && strcmp(role, "run") == 0;
    const struct environment_request request = {
        .devices = devices,
        .sim_profile = setup->sim_profile,
        .connections = facts != NULL ? facts_connections(facts) : 0,
        .parent_pid = is_wrapped ? 0 : (int64_t)getpid(),
    };

    *out = (struct worker_start){
        .worker_file = setup->worker_file,
        .role = role,
        .wrap = is_wrapped ? setup->wrap : NULL,
        .log_dir = setup->log_dir,
        .build = setup->build,
        .grace_ns = GRACE_NS,
    };
    return worker_environment_build(&request, arena, &out->environment, err);
}

static int32_t take_done(
    struct question *question, const struct done_frame *done, struct error *err)
{
    static const struct quit_frame quit = { 0 };

    FAIL_IF(question->done, err, NVBW_E_INVALID, "DONE came twice");
    question->done = 1;
    question->status = done->status;
    question->calls = done->calls;
    snprintf(question->failed_call, sizeof question->failed_call, "%s",
        done->failed_call != NULL ? done->failed_call : "");
    question->cause.state = done->state;
    if (done->state == STATE_NONE && done->status < 0) {
        question->cause.state = STATE_ERROR;
    }

    const struct reason *const reason =
        reason_find(question->cause.state, done->reason);

    question->cause.reason = reason != NULL ? reason->code : NULL;
    snprintf(question->cause.text, sizeof question->cause.text, "%s",
        done->message != NULL ? done->message : status_name(done->status));
    return worker_send(&question->worker, FRAME_QUIT, &quit, err);
}

static int32_t take_frame(struct worker *worker, uint32_t type,
    const void *object, size_t payload_bytes, struct error *err)
{
    struct question *const question = worker->user;

    (void)payload_bytes;
    if (type == FRAME_DONE) {
        return take_done(question, object, err);
    }
    if (type == FRAME_LOG) {
        return NVBW_OK;
    }
    return question->on_frame(question, type, object, err);
}

static int needs_no_driver(const struct task_frame *task)
{
    return task->role == TASK_DESCRIBE || task->role == TASK_RECORD ||
           task->role == TASK_CHECK;
}

static int32_t send_task(const struct worker_setup *setup,
    struct question *question, struct error *err)
{
    if (question->facts != NULL) {
        TRY(worker_send(&question->worker, FRAME_FACTS, question->facts, err));
    }
    TRY(worker_send(&question->worker, FRAME_TASK, question->task, err));
    worker_allow(&question->worker, needs_no_driver(question->task)
                                        ? setup->describe_ns
                                        : setup->answer_ns);
    return NVBW_OK;
}

/* A worker that cannot be started has given its answer too. */
static int32_t begin(const struct worker_setup *setup, struct crew *crew,
    struct question *question)
{
    struct arena arena;
    struct worker_start start;
    struct error err;

    arena_init(&arena, ASK_ARENA_BYTES);

    int32_t status = ask_worker_start(setup, question->role, question->devices,
        question->facts, &arena, &start, &err);

    if (status == NVBW_OK) {
        start.on_frame = take_frame;
        start.user = question;
        status = crew_start(crew, &question->worker, &start, &err);
    }
    arena_clear(&arena);
    if (status == NVBW_OK) {
        status = send_task(setup, question, &err);
    }
    if (status < 0) {
        worker_stop(&question->worker, 0);
        question->cause =
            (struct cause){ .state = STATE_ERROR, .reason = "system" };
        snprintf(
            question->cause.text, sizeof question->cause.text, "%s", err.text);
    }
    return status;
}

/* What a worker did wrong counts more than what it said before. */
static void conclude(struct question *question)
{
    const struct worker_end *const end = &question->worker.end;
    const int ended_well = end->fault == FAULT_NONE && !end->expired &&
                           question->done && end->has_bye;

    if (ended_well ||
        (!question->done && question->cause.state != STATE_NONE)) {
        return;
    }
    if (question->worker.stage == WORKER_NONE) {
        question->cause = (struct cause){ .state = STATE_CANCELLED,
            .text = "the run was stopped" };
        return;
    }
    question->status = NVBW_E_SYSTEM;
    worker_end_cause(end, question->role, &question->cause);
}

static uint32_t count_up(const struct question *questions, uint32_t count)
{
    uint32_t up = 0;

    for (uint32_t i = 0; i < count; i++) {
        up += (uint32_t)worker_is_up(&questions[i].worker);
    }
    return up;
}

int32_t ask_all(const struct worker_setup *setup, struct crew *crew,
    struct question *questions, uint32_t count, uint32_t at_once,
    struct error *err)
{
    const uint32_t signals = crew->signals;
    uint32_t begun = 0;
    int32_t status = NVBW_OK;

    for (uint32_t i = 0; i < count; i++) {
        questions[i].status = NVBW_E_SYSTEM;
        questions[i].worker.stage = WORKER_NONE;
    }
    while (status == NVBW_OK &&
           (begun < count || count_up(questions, begun) > 0)) {
        while (begun < count && count_up(questions, begun) < at_once) {
            begin(setup, crew, &questions[begun++]);
        }
        status = crew_step(crew, UINT64_MAX, err);
        if (crew->signals != signals) {
            begun = count;
            for (uint32_t i = 0; i < count; i++) {
                worker_stop(&questions[i].worker, 0);
            }
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        conclude(&questions[i]);
    }
    return status;
}
