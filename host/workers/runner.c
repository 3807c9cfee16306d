/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "runner.h"

#include <stdio.h>
#include <string.h>

#include "ask.h"

enum { RUNNER_ARENA_BYTES = 1 << 20 };
/* Of a worker that is on its way out when somebody stops the run. */
static const uint64_t STOPPED_GRACE_NS = 400000000u;

static int is_installed(const char *file, const struct plugin_schema *plugins,
    uint32_t plugins_count)
{
    for (uint32_t i = 0; i < plugins_count; i++) {
        if (plugins[i].file != NULL && strcmp(plugins[i].file, file) == 0) {
            return plugins[i].installed != 0;
        }
    }
    return 0;
}

void runner_key(const struct unit *unit, const struct plugin_schema *plugins,
    uint32_t plugins_count, char *out, size_t size)
{
    const char *const isolate = unit->isolate != NULL ? unit->isolate : "auto";
    const char *const file = unit->plugin_file != NULL ? unit->plugin_file : "";

    if (strcmp(isolate, "run") == 0) {
        snprintf(out, size, "run");
    } else if (strcmp(isolate, "testcase") == 0) {
        snprintf(out, size, "testcase %s %s", file, unit->testcase);
    } else if (strcmp(isolate, "auto") == 0 &&
               is_installed(file, plugins, plugins_count)) {
        snprintf(out, size, "installed");
    } else {
        snprintf(out, size, "plugin %s", file);
    }
}

int32_t runner_note_end(
    struct runner *runner, struct ledger *ledger, struct error *err)
{
    struct worker *const worker = &runner->worker;
    struct cause cause;

    if (worker->stage != WORKER_GONE && worker->stage != WORKER_ABANDONED) {
        return NVBW_OK;
    }
    worker->stage = WORKER_NONE;
    worker_end_cause(&worker->end, worker->role, &cause);
    if (worker->end.has_bye && strcmp(worker->end.bye_why, "finished") == 0) {
        snprintf(cause.text, sizeof cause.text, "run worker finished");
    }

    const struct event event = { .what = "worker_end",
        .unit = -1,
        .pid = (int32_t)worker->pid,
        .gpu = -1,
        .text = cause.text };

    return ledger_event(ledger, &event, err);
}

int32_t runner_retire(struct runner *runner, struct crew *crew,
    struct ledger *ledger, struct error *err)
{
    static const struct quit_frame quit = { 0 };
    struct worker *const worker = &runner->worker;

    runner->task = NULL;
    if (worker->stage == WORKER_LIVE) {
        TRY(worker_send(worker, FRAME_QUIT, &quit, err));
        worker_allow(worker, worker->grace_ns);
    }
    while (worker_is_up(worker)) {
        uint64_t due_ns = 0;

        TRY(ledger_tick(ledger, &due_ns, err));
        TRY(crew_step(crew, due_ns, err));
        if (crew->signals > 0) {
            worker_stop(worker, crew->signals > 1 ? 0 : STOPPED_GRACE_NS);
        }
    }
    return runner_note_end(runner, ledger, err);
}

static int32_t start_worker(struct runner *runner, struct crew *crew,
    const struct conduct_request *request, const struct taint *taint,
    struct arena *arena, worker_frame_fn *on_frame, struct error *err)
{
    const struct evidence *const evidence = request->evidence;
    struct worker_start start;
    const char *devices = NULL;

    TRY(taint_devices(taint, &evidence->facts, evidence->units,
        evidence->units_count, arena, &devices, err));
    TRY(ask_worker_start(
        request->setup, "run", devices, &evidence->facts, arena, &start, err));
    start.grace_ns = request->grace_ns;
    start.on_frame = on_frame;
    start.user = runner;
    runner->tasks = 0;
    runner->has_driver = 0;
    TRY(crew_start(crew, &runner->worker, &start, err));
    return worker_send(
        &runner->worker, FRAME_FACTS, &request->evidence->facts, err);
}

void runner_adopt(struct runner *runner, const struct conduct_request *request,
    worker_frame_fn *on_frame)
{
    struct worker *const worker = &runner->worker;

    snprintf(runner->key, sizeof runner->key, "mpi");
    worker->on_frame = on_frame;
    worker->user = runner;
    worker->grace_ns = request->grace_ns;
    worker_log_init(
        &worker->log, request->setup->log_dir, worker->role, (int)worker->pid);
    runner->has_driver = 1;
}

static int32_t note_start(
    struct runner *runner, struct ledger *ledger, struct error *err)
{
    const struct event event = { .what = "worker_start",
        .unit = -1,
        .pid = (int32_t)runner->worker.pid,
        .gpu = -1,
        .text = runner->key };

    return ledger_event(ledger, &event, err);
}

int32_t runner_ensure(struct runner *runner, struct crew *crew,
    const struct conduct_request *request, struct ledger *ledger,
    const struct taint *taint, const struct unit *unit,
    worker_frame_fn *on_frame, struct error *err)
{
    char key[sizeof runner->key];
    struct arena arena;

    if (request->team != NULL) {
        return NVBW_OK; /* it has but one worker */
    }
    runner_key(unit, request->evidence->plugins,
        request->evidence->plugins_count, key, sizeof key);
    if (runner->worker.stage == WORKER_LIVE && !runner->worker.end.has_bye &&
        strcmp(key, runner->key) == 0) {
        return NVBW_OK;
    }
    TRY(runner_retire(runner, crew, ledger, err));
    memcpy(runner->key, key, sizeof key);
    arena_init(&arena, RUNNER_ARENA_BYTES);

    const int32_t status =
        start_worker(runner, crew, request, taint, &arena, on_frame, err);

    arena_clear(&arena);
    TRY(status);
    return note_start(runner, ledger, err);
}
