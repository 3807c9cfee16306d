/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "unit_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_clock.h"
#include "select.h"
#include "state.h"
#include "unit_frames.h"
#include "unit_taint.h"

enum {
    JOURNAL_SPARE = 16, /* part that is kept for words on what is left then */
    BARREN_LIMIT = 3,
    SETTLED_SAMPLES = 2 << 20, /* of all settled cells in one task */
    SETTLED_MOST = 1001        /* of one of them */
};
/* A stopped run has one second for everything: it must be over before whoever
 * sent the signal gets impatient. */
static const uint64_t STOP_GRACE_NS = 400000000u;
static const uint64_t STOP_REAP_NS = 300000000u;

uint64_t conductor_journal_room(const struct conductor *conductor)
{
    const struct conduct_request *const request = conductor->request;

    if (request->journal == NULL) {
        return UINT64_MAX;
    }

    const uint64_t most = request->journal_most_bytes -
                          request->journal_most_bytes / JOURNAL_SPARE;
    const uint64_t size = journal_size(request->journal);

    return size < most ? most - size : 0;
}

int conductor_is_cut(struct conductor *conductor, struct cause *out)
{
    *out = (struct cause){ .state = STATE_NOT_RUN };
    if (conductor->crew.signals > 0) {
        out->reason = "stopped";
        snprintf(
            out->text, sizeof out->text, "the run was stopped by a signal");
        return 1;
    }
    if (conductor->unfit[0] != '\0') {
        out->reason = "health";
        snprintf(out->text, sizeof out->text, "%s", conductor->unfit);
        return 1;
    }
    if (host_clock_ns() >= conductor->budget_end_ns) {
        conductor->budget_used = 1;
        out->reason = "budget";
        snprintf(out->text, sizeof out->text,
            "the time budget of %.3g s was used up",
            (double)conductor->request->budget_ns * 1e-9);
        return 1;
    }
    if (conductor_journal_room(conductor) == 0) {
        out->reason = "journal_full";
        snprintf(out->text, sizeof out->text,
            "the journal has reached the %.0f MiB that resume and report read",
            (double)conductor->request->journal_most_bytes / (1 << 20));
        return 1;
    }
    if (conductor->mpi_ended) {
        out->reason = "mpi_ended";
        snprintf(out->text, sizeof out->text,
            "the MPI worker had ended before and cannot be started again: %s",
            conductor->mpi_why);
        return 1;
    }
    return 0;
}

int32_t unit_run_settle_all(
    struct unit_run *run, const struct cause *cause, struct error *err)
{
    for (int32_t cell = wanted_next(&run->wanted, 0); cell >= 0;
         cell = wanted_next(&run->wanted, (uint32_t)cell + 1)) {
        wanted_remove(&run->wanted, (uint32_t)cell);
        TRY(ledger_settle(&run->conductor->ledger, run->unit, run->attempt,
            (uint32_t)cell, cause, err));
    }
    return NVBW_OK;
}

/* Cells that were cut off: a confirming attempt leaves no trace of them, since
 * what was measured before is worth more. */
static int32_t cut_off(
    struct unit_run *run, const struct cause *cause, struct error *err)
{
    if (!run->is_extra) {
        return unit_run_settle_all(run, cause, err);
    }
    memset(run->wanted.has, 0, run->wanted.span);
    run->wanted.count = 0;
    return NVBW_OK;
}

/* ---- the task ---- */

static int compare_numbers(const void *one, const void *other)
{
    const double a = *(const double *)one;
    const double b = *(const double *)other;

    return (a > b) - (a < b);
}

/* Samples of all cells go into one frame: where there are too many, order
 * statistics stand for them, whose quantiles are near enough. */
static int32_t thin_samples(const struct record *record, uint32_t limit,
    struct arena *arena, struct settled_cell *out, struct error *err)
{
    out->samples = record->samples;
    out->samples_count = record->samples_count;
    if (record->samples_count <= limit) {
        return NVBW_OK;
    }

    const uint32_t count = record->samples_count;
    double *const sorted = malloc(count * sizeof *sorted);

    out->samples = arena_alloc(arena, limit, sizeof *out->samples);
    if (sorted == NULL || out->samples == NULL) {
        free(sorted);
        return error_set(
            err, NVBW_E_SYSTEM, "no memory for samples of settled cells");
    }
    memcpy(sorted, record->samples, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_numbers);
    for (uint32_t i = 0; i < limit; i++) {
        out->samples[i] = sorted[(uint64_t)i * (count - 1) / (limit - 1)];
    }
    out->samples_count = limit;
    free(sorted);
    return NVBW_OK;
}

/* Cells that are settled already: their samples, for figure(), or the state
 * that a cell derived from them shares. */
static int32_t list_settled(
    struct unit_run *run, struct task_frame *task, struct error *err)
{
    const struct evidence *const evidence = &run->conductor->rounds.now;
    struct settled_cell *const list = arena_alloc(
        run->arena, run->wanted.span - run->wanted.count, sizeof *list);
    const uint32_t limit = SETTLED_SAMPLES / run->wanted.span < SETTLED_MOST
                               ? SETTLED_SAMPLES / run->wanted.span
                               : SETTLED_MOST;
    struct cell_place place;

    FAIL_IF(list == NULL, err, NVBW_E_SYSTEM, "no memory for settled cells");
    task->settled = list;
    for (uint32_t cell = 0; cell < run->wanted.span; cell++) {
        if (wanted_has(&run->wanted, cell) ||
            !unit_cell_at(run->unit, cell, &place)) {
            continue;
        }

        const struct record *const record =
            evidence_cell(evidence, run->unit->id,
                run->unit->shapes[place.shape].metric, place.row, place.col);

        if (record == NULL) {
            continue;
        }

        struct settled_cell *const settled = &list[task->settled_count++];

        *settled = (struct settled_cell){
            .cell = cell, .state = record->state, .reason = record->reason
        };
        if (record->state == STATE_MEASURED) {
            TRY(thin_samples(record, limit, run->arena, settled, err));
        }
    }
    return NVBW_OK;
}

/* A short timeout in the plan shortens the patience with a worker that is
 * just starting, too. */
static uint64_t first_timeout_ns(const struct unit_run *run)
{
    const uint64_t timeout_ns = run->unit->timeout_ns;
    const uint64_t answer_ns = run->conductor->request->setup->answer_ns;

    return timeout_ns +
           (timeout_ns < answer_ns / 4 ? 4 * timeout_ns : answer_ns);
}

static uint64_t budget_left(const struct conductor *conductor)
{
    const uint64_t now_ns = host_clock_ns();

    if (conductor->budget_end_ns == UINT64_MAX) {
        return UINT64_MAX;
    }
    return conductor->budget_end_ns > now_ns ? conductor->budget_end_ns - now_ns
                                             : 0;
}

static int32_t send_task(struct unit_run *run, struct error *err)
{
    struct conductor *const conductor = run->conductor;
    struct worker *const worker = &conductor->runner.worker;
    struct task_frame task = { .role = TASK_RUN,
        .plugin_file = run->unit->plugin_file,
        .driver_file = conductor->request->setup->driver_file,
        .unit = *run->unit,
        .attempt = run->attempt,
        .apart = run->apart,
        .watched = conductor->monitor.is_wanted,
        .budget_ns = budget_left(conductor),
        .allow_multicast = (uint32_t)select_flag(
            &conductor->request->evidence->plan, "allow_multicast") };

    TRY(wanted_list(
        &run->wanted, run->arena, &task.wanted, &task.wanted_count, err));
    TRY(list_settled(run, &task, err));
    run->done = 0;
    run->begun = 0;
    run->has_begun = 0;
    run->begun_at = 0;
    run->settled = 0;
    run->gpus_count = 0;
    run->parts = 0;
    memset(run->in_flight.has, 0, run->in_flight.span);
    run->in_flight.count = 0;
    conductor->runner.task = run;
    worker_log_renew(&worker->log);
    TRY(worker_send(worker, FRAME_TASK, &task, err));
    unit_frames_allow(run);
    conductor->runner.tasks++;
    if (!conductor->runner.has_driver && worker->deadline_ns != UINT64_MAX) {
        /* It may load libraries and start the driver before its first BEGIN. */
        worker_allow(worker, first_timeout_ns(run));
    }
    return NVBW_OK;
}

void conductor_stop_worker(struct conductor *conductor)
{
    struct worker *const worker = &conductor->runner.worker;
    const uint64_t grace_ns = conductor->request->grace_ns < STOP_GRACE_NS
                                  ? conductor->request->grace_ns
                                  : STOP_GRACE_NS;

    worker->reap_ns =
        worker->reap_ns < STOP_REAP_NS ? worker->reap_ns : STOP_REAP_NS;
    /* Launchers of MPI jobs give a process a second between SIGTERM and
     * SIGKILL, and the worker waits for ranks that are being ended, too. */
    worker_stop(
        worker, conductor->crew.signals > 1 || conductor->mpi ? 0 : grace_ns);
}

int32_t conductor_wait(
    struct conductor *conductor, uint64_t until_ns, struct error *err)
{
    uint64_t due_ns = 0;
    uint64_t poll_ns = 0;

    TRY(ledger_tick(&conductor->ledger, &due_ns, err));
    TRY(monitor_tick(&conductor->monitor, &poll_ns, err));
    due_ns = poll_ns < due_ns ? poll_ns : due_ns;
    return crew_step(
        &conductor->crew, due_ns < until_ns ? due_ns : until_ns, err);
}

/* Until the task is done or the worker is no more. */
static int32_t follow(struct unit_run *run, struct error *err)
{
    struct conductor *const conductor = run->conductor;
    uint64_t until_ns = conductor->budget_end_ns;
    struct cause cut;

    while (!run->done && worker_is_up(&conductor->runner.worker)) {
        TRY(conductor_wait(conductor, until_ns, err));
        if (run->fatal.status < 0) {
            return error_set(err, run->fatal.status, "%s", run->fatal.text);
        }
        if (!run->done && conductor_is_cut(conductor, &cut)) {
            conductor_stop_worker(conductor);
            until_ns = UINT64_MAX; /* its own deadlines are short now */
        }
    }
    return NVBW_OK;
}

/* ---- after a worker's end ---- */

static int32_t settle_in_flight(
    struct unit_run *run, const struct cause *cause, struct error *err)
{
    for (int32_t cell = wanted_next(&run->in_flight, 0); cell >= 0;
         cell = wanted_next(&run->in_flight, (uint32_t)cell + 1)) {
        wanted_remove(&run->wanted, (uint32_t)cell);
        if (run->is_extra && cause->state == STATE_CANCELLED) {
            continue;
        }
        TRY(ledger_settle(&run->conductor->ledger, run->unit, run->attempt,
            (uint32_t)cell, cause, err));
    }
    return NVBW_OK;
}

/* An end that no cell had a part in: while a reused worker had not yet taken
 * the task up, on request, or after it had settled what poisoned it. */
static int is_blameless(const struct unit_run *run)
{
    const struct worker_end *const end = &run->conductor->runner.worker.end;

    if (end->stopped) {
        return 1;
    }
    if (!run->begun && run->conductor->runner.tasks > 1 && !end->expired &&
        end->fault == FAULT_NONE) {
        return 1;
    }
    return end->has_bye && run->settled > 0 &&
           (strcmp(end->bye_why, "poisoned") == 0 ||
               strcmp(end->bye_why, "team") == 0);
}

/* Somebody must bear it, or a worker that dies before its first cell would be
 * started for ever. */
static void blame_first(struct unit_run *run)
{
    const int32_t first = wanted_next(&run->wanted, 0);

    if (run->in_flight.count == 0 && first >= 0 && !is_blameless(run)) {
        wanted_add(&run->in_flight, (uint32_t)first);
    }
}

/* Cells that ran side by side and of which it is not known who ended the
 * worker. Those on a GPU that is of no use any more are not tried again: that
 * is who it was. */
static int32_t doubt_in_flight(
    struct unit_run *run, const struct cause *cause, struct error *err)
{
    const struct conductor *const conductor = run->conductor;

    for (int32_t cell = wanted_next(&run->in_flight, 0); cell >= 0;
         cell = wanted_next(&run->in_flight, (uint32_t)cell + 1)) {
        if (!wanted_has(&run->wanted, (uint32_t)cell)) {
            continue;
        }
        wanted_remove(&run->wanted, (uint32_t)cell);
        if (taint_blocks(&conductor->taint, run->unit, (uint32_t)cell,
                run->recording) < 0) {
            wanted_add(&run->doubt, (uint32_t)cell);
            continue;
        }
        TRY(ledger_settle(&run->conductor->ledger, run->unit, run->attempt,
            (uint32_t)cell, cause, err));
    }
    return NVBW_OK;
}

static int is_doubtful(const struct unit_run *run, const struct cause *cause)
{
    return run->parts > 1 && !run->apart && cause->state != STATE_CANCELLED;
}

static void count_end(struct unit_run *run)
{
    const struct runner *const runner = &run->conductor->runner;
    const int is_stale = !run->begun && runner->tasks > 1;

    if (run->settled > 0) {
        run->barren = 0;
    } else if (!is_stale) {
        run->barren++;
    }
}

static void note_mpi_end(struct conductor *conductor, const struct cause *cause)
{
    if (conductor->mpi && !conductor->mpi_ended) {
        conductor->mpi_ended = 1;
        snprintf(conductor->mpi_why, sizeof conductor->mpi_why, "%.*s",
            (int)sizeof conductor->mpi_why - 1, cause->text);
    }
}

/* Of an MPI job it is told as other ranks' ends are: who, where and when. */
static void name_rank(const struct unit_run *run, struct cause *cause)
{
    const struct facts *const facts = &run->conductor->request->evidence->facts;
    const char *const host =
        facts->gpus_count > 0 ? facts->gpus[0].host : facts->host;
    const char *const step = run->in_flight.count > 0 ? "cells in flight"
                             : run->begun             ? "between cells"
                                                      : "task";
    const struct cause plain = *cause;

    if (run->conductor->mpi && cause->state != STATE_CANCELLED &&
        strstr(cause->text, "rank ") == NULL) {
        snprintf(cause->text, sizeof cause->text,
            "rank 0 (host %s), step \"%s\": %.1000s",
            host == NULL ? "unknown" : host, step, plain.text);
    }
}

static int32_t after_end(struct unit_run *run, struct error *err)
{
    struct conductor *const conductor = run->conductor;
    const struct worker_end *const end = &conductor->runner.worker.end;
    struct cause cause;
    struct cause cut;

    worker_end_cause(end, "run", &cause);
    if (end->stopped && conductor_is_cut(conductor, &cut)) {
        memcpy(cause.text, cut.text, sizeof cause.text);
    }
    name_rank(run, &cause);
    count_end(run);
    note_mpi_end(conductor, &cause);
    if (end->fault == FAULT_BUILD || end->fault == FAULT_FACTS) {
        TRY(unit_run_settle_all(run, &cause, err));
    }
    blame_first(run);
    if (is_doubtful(run, &cause)) {
        TRY(unit_taint_check(run, err));
        TRY(unit_taint_record(run, err));
        TRY(doubt_in_flight(run, &cause, err));
        return runner_note_end(&conductor->runner, &conductor->ledger, err);
    }
    TRY(settle_in_flight(run, &cause, err));
    TRY(unit_taint_check(run, err));
    return runner_note_end(&conductor->runner, &conductor->ledger, err);
}

static int32_t give_up(struct unit_run *run, struct error *err)
{
    const struct cause cause = { .state = STATE_NOT_RUN,
        .reason = "worker_ends",
        .text = "three workers in a row ended without settling a cell" };

    return unit_run_settle_all(run, &cause, err);
}

static int32_t start_failed(
    struct unit_run *run, const struct error *why, struct error *err)
{
    struct cause cause = { .state = STATE_ERROR, .reason = "system" };

    snprintf(cause.text, sizeof cause.text, "%s", why->text);
    return unit_run_settle_all(run, &cause, err);
}

/* A rank's worker that ended between two units cannot be had again. */
static int32_t has_lost_mpi(struct unit_run *run, int *out, struct error *err)
{
    struct conductor *const conductor = run->conductor;
    struct cause cause;

    *out = conductor->mpi && conductor->runner.worker.stage != WORKER_LIVE;
    if (!*out) {
        return NVBW_OK;
    }
    worker_end_cause(&conductor->runner.worker.end, "run", &cause);
    note_mpi_end(conductor, &cause);
    return runner_note_end(&conductor->runner, &conductor->ledger, err);
}

/* One worker's share of the wanted cells. */
static int32_t run_once(struct unit_run *run, struct error *err)
{
    struct conductor *const conductor = run->conductor;
    struct runner *const runner = &conductor->runner;
    struct error why = { .status = NVBW_OK };
    int is_lost = 0;

    TRY(has_lost_mpi(run, &is_lost, err));
    if (is_lost) {
        return NVBW_OK;
    }
    if (runner_ensure(runner, &conductor->crew, conductor->request,
            &conductor->ledger, &conductor->taint, run->unit, unit_frames_take,
            &why) < 0) {
        return start_failed(run, &why, err);
    }
    TRY(send_task(run, err));

    const int32_t status = follow(run, err);

    runner->task = NULL;
    monitor_rest(&conductor->monitor);
    monitor_forget(&conductor->monitor, &runner->worker);
    TRY(status);
    if (run->done) {
        worker_allow(&runner->worker, UINT64_MAX);
        return NVBW_OK;
    }
    return after_end(run, err);
}

/* Where side by side nothing is settled, one after another may do. */
static int32_t doubt_rest(struct unit_run *run)
{
    for (int32_t cell = wanted_next(&run->wanted, 0); cell >= 0;
         cell = wanted_next(&run->wanted, (uint32_t)cell + 1)) {
        wanted_remove(&run->wanted, (uint32_t)cell);
        wanted_add(&run->doubt, (uint32_t)cell);
    }
    return NVBW_OK;
}

static int32_t run_wanted(struct unit_run *run, struct error *err)
{
    struct cause cut;

    while (run->wanted.count > 0) {
        if (conductor_is_cut(run->conductor, &cut)) {
            return cut_off(run, &cut, err);
        }
        TRY(unit_taint_block(run, err));
        if (run->barren >= BARREN_LIMIT) {
            return run->doubt.count > 0 ? doubt_rest(run) : give_up(run, err);
        }
        if (run->wanted.count > 0) {
            TRY(run_once(run, err));
        }
    }
    return NVBW_OK;
}

int32_t unit_run_cells(struct unit_run *run, struct error *err)
{
    const uint32_t gpus = run->conductor->request->evidence->facts.gpus_count;

    run->apart = 0;
    TRY(wanted_init(&run->in_flight, run->unit, run->arena, err));
    TRY(wanted_init(&run->doubt, run->unit, run->arena, err));
    run->gpus = arena_alloc(run->arena, gpus, sizeof *run->gpus);
    FAIL_IF(
        run->gpus == NULL, err, NVBW_E_SYSTEM, "no memory for %u GPUs", gpus);
    TRY(run_wanted(run, err));
    if (run->doubt.count == 0) {
        return NVBW_OK;
    }
    run->wanted = run->doubt;
    run->barren = 0;
    run->apart = 1;
    TRY(wanted_init(&run->doubt, run->unit, run->arena, err));
    return run_wanted(run, err);
}
