/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "unit_frames.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "state.h"

enum {
    CELL_BYTES = 16 << 20, /* of one record: a million samples and words */
    LOG_BYTES = 1 << 20,   /* of log frames, per unit */
    LOG_LINE_BYTES = 64    /* what a line without text counts for */
};

/* The states that a worker may give; the others are the host's to give. */
static const unsigned char worker_states[STATE_COUNT] = {
    [STATE_MEASURED] = 1,
    [STATE_SKIP] = 1,
    [STATE_ERROR] = 1,
    [STATE_MISMATCH] = 1,
    [STATE_INVALID] = 1,
    [STATE_CANCELLED] = 1,
};

/* Failures of journal or memory are not the worker's: they are kept for the
 * conductor, and the worker is not blamed. */
static int32_t keep_fatal(
    struct unit_run *run, int32_t status, const struct error *err)
{
    if (status < 0 && run->fatal.status == NVBW_OK) {
        run->fatal = *err;
        run->fatal.status = status;
    }
    return NVBW_OK;
}

void unit_frames_allow(struct unit_run *run)
{
    const struct conductor *const conductor = run->conductor;

    worker_allow(&run->conductor->runner.worker,
        conductor->request->setup->wrap != NULL || run->unit->timeout_ns == 0
            ? UINT64_MAX
            : run->unit->timeout_ns);
}

static int32_t check_gpus(const struct unit_run *run, const uint32_t *gpus,
    uint32_t count, struct error *err)
{
    const uint32_t known = run->conductor->request->evidence->facts.gpus_count;

    FAIL_IF(count > known, err, NVBW_E_INVALID,
        "%u GPUs were named where there are %u", count, known);
    for (uint32_t i = 0; i < count; i++) {
        FAIL_IF(gpus[i] >= known, err, NVBW_E_INVALID,
            "GPU %u was named where there are %u", gpus[i], known);
    }
    return NVBW_OK;
}

static int32_t take_begin(
    struct unit_run *run, const struct begin_frame *begin, struct error *err)
{
    const struct conduct_watch *const watch = run->conductor->request->watch;
    struct cell_place place;

    TRY(check_gpus(run, begin->gpus, begin->gpus_count, err));
    memset(run->in_flight.has, 0, run->in_flight.span);
    run->in_flight.count = 0;
    for (uint32_t i = 0; i < begin->cells_count; i++) {
        FAIL_IF(!unit_cell_at(run->unit, begin->cells[i], &place), err,
            NVBW_E_INVALID, "BEGIN names cell %u, which %s/%s does not have",
            begin->cells[i], run->unit->plugin, run->unit->testcase);
        if (wanted_has(&run->wanted, begin->cells[i])) {
            wanted_add(&run->in_flight, begin->cells[i]);
        }
    }
    for (uint32_t i = 0; i < begin->gpus_count; i++) {
        run->gpus[i] = begin->gpus[i];
    }
    run->gpus_count = begin->gpus_count;
    run->parts = begin->parts;
    if (begin->gpus_count > 0) {
        run->conductor->runner.has_driver = 1;
    }
    /* Once per settled cell (C18): or a worker could begin for ever. */
    if (!run->has_begun || run->settled != run->begun_at) {
        run->has_begun = 1;
        run->begun_at = run->settled;
        unit_frames_allow(run);
    }
    monitor_begin(&run->conductor->monitor, begin->gpus, begin->gpus_count);
    if (watch != NULL && watch->cells_begin != NULL) {
        watch->cells_begin(watch->user, run->unit, begin);
    }
    return NVBW_OK;
}

/* The state of a cell that the host has settled, which one derived from it
 * shares. */
static int is_shared(const struct unit_run *run, uint32_t state)
{
    const struct evidence *const evidence = &run->conductor->rounds.now;
    const struct unit *const unit = run->unit;
    struct cell_place place;

    for (uint32_t cell = 0; cell < run->wanted.span; cell++) {
        if (wanted_has(&run->wanted, cell) ||
            !unit_cell_at(unit, cell, &place)) {
            continue;
        }

        const struct record *const record = evidence_cell(evidence, unit->id,
            unit->shapes[place.shape].metric, place.row, place.col);

        if (record != NULL && record->state == state) {
            return 1;
        }
    }
    return 0;
}

static int may_give(const struct unit_run *run, uint32_t state)
{
    return state < STATE_COUNT &&
           (worker_states[state] || is_shared(run, state));
}

static int32_t check_record(const struct unit_run *run,
    const struct record *record, size_t payload_bytes, int32_t *out_cell,
    struct error *err)
{
    FAIL_IF(payload_bytes > CELL_BYTES, err, NVBW_E_INVALID,
        "a cell's record of %zu bytes is more than the %d allowed",
        payload_bytes, CELL_BYTES);
    *out_cell = record->metric == NULL
                    ? -1
                    : unit_cell_number(
                          run->unit, record->metric, record->row, record->col);
    FAIL_IF(*out_cell < 0, err, NVBW_E_INVALID,
        "a cell %s[%u,%u] was settled, which %s/%s does not have",
        record->metric != NULL ? record->metric : "", record->row, record->col,
        run->unit->plugin, run->unit->testcase);
    FAIL_IF(!wanted_has(&run->wanted, (uint32_t)*out_cell), err, NVBW_E_INVALID,
        "cell %s[%u,%u] was settled twice, or without being asked for",
        record->metric, record->row, record->col);
    FAIL_IF(!may_give(run, record->state), err, NVBW_E_INVALID,
        "cell %s[%u,%u] was given state %s", record->metric, record->row,
        record->col, name_of(state_names, record->state));
    FAIL_IF(record->state == STATE_MEASURED && record->samples_count == 0, err,
        NVBW_E_INVALID, "cell %s[%u,%u] was measured without a sample",
        record->metric, record->row, record->col);
    for (uint32_t i = 0; i < record->samples_count; i++) {
        FAIL_IF(!isfinite(record->samples[i]), err, NVBW_E_INVALID,
            "sample %u of cell %s[%u,%u] is not a number", i, record->metric,
            record->row, record->col);
    }
    return check_gpus(run, record->gpus, record->gpus_count, err);
}

static int32_t take_cell(struct unit_run *run, const struct record *given,
    size_t payload_bytes, struct error *err)
{
    struct record record = *given;
    int32_t cell = -1;

    TRY(check_record(run, given, payload_bytes, &cell, err));
    record.unit = run->unit->id;
    record.attempt = run->attempt;
    record.telemetry_count = 0;
    TRY(monitor_join(&run->conductor->monitor, &record, err));
    wanted_remove(&run->wanted, (uint32_t)cell);
    wanted_remove(&run->in_flight, (uint32_t)cell);
    run->settled++;
    unit_frames_allow(run);
    return keep_fatal(run,
        ledger_record(&run->conductor->ledger, run->unit, &record, err), err);
}

static int32_t take_log(
    struct unit_run *run, const struct log_frame *log, struct error *err)
{
    const size_t length =
        LOG_LINE_BYTES + (log->text != NULL ? strlen(log->text) : 0);

    run->log_dropped += log->dropped;
    if (length > LOG_BYTES - run->log_bytes) {
        run->log_dropped++;
        return NVBW_OK;
    }
    run->log_bytes += length;

    const struct event event = { .what = "log",
        .level = log->level,
        .unit = (int32_t)run->unit->id,
        .pid = (int32_t)run->conductor->runner.worker.pid,
        .gpu = -1,
        .text = log->text };

    return keep_fatal(
        run, ledger_event(&run->conductor->ledger, &event, err), err);
}

/* What is left has no word: `unsettled`, unless DONE gives all of it one. */
static int32_t take_done(
    struct unit_run *run, const struct done_frame *done, struct error *err)
{
    const struct unit *const unit = run->unit;
    struct cause cause = { .state = done->state };

    FAIL_IF(done->state >= STATE_COUNT || done->state == STATE_MEASURED ||
                (done->state != STATE_NONE && !worker_states[done->state]),
        err, NVBW_E_INVALID, "DONE gives what is left the state %s",
        name_of(state_names, done->state));

    const struct reason *const reason = reason_find(done->state, done->reason);

    run->done = 1;
    if (reason != NULL) {
        cause.reason = reason->code;
    }
    if (done->state == STATE_NONE) {
        cause.state = STATE_ERROR;
        cause.reason = "unsettled";
    }
    if (done->message != NULL) {
        snprintf(cause.text, sizeof cause.text, "%s", done->message);
    } else if (done->state == STATE_NONE) {
        snprintf(cause.text, sizeof cause.text,
            "plugin %s: testcase %s returned %s without a word on this cell",
            unit->plugin, unit->testcase, status_name(done->status));
    }
    return keep_fatal(run, unit_run_settle_all(run, &cause, err), err);
}

static int32_t take_facts(struct worker *worker, struct error *err)
{
    snprintf(worker->end.fault_text, sizeof worker->end.fault_text,
        "it sees another machine than the one that the run was planned for; "
        "start the run again");
    worker->end.fault = FAULT_FACTS;
    return error_set(err, NVBW_E_INVALID, "%s", worker->end.fault_text);
}

int32_t unit_frames_take(struct worker *worker, uint32_t type,
    const void *object, size_t payload_bytes, struct error *err)
{
    const struct runner *const runner = worker->user;
    struct unit_run *const run = runner->task;

    if (run == NULL) {
        FAIL_IF(type != FRAME_LOG, err, NVBW_E_INVALID,
            "a frame of type %u came without a task", type);
        return NVBW_OK;
    }
    FAIL_IF(run->done && type != FRAME_LOG, err, NVBW_E_INVALID,
        "a frame of type %u came after DONE", type);
    run->begun = 1;
    switch (type) {
    case FRAME_BEGIN:
        return take_begin(run, object, err);
    case FRAME_CELL:
        return take_cell(run, object, payload_bytes, err);
    case FRAME_READ:
        return monitor_ask(&run->conductor->monitor, worker, object, err);
    case FRAME_LOG:
        return take_log(run, object, err);
    case FRAME_DONE:
        return take_done(run, object, err);
    case FRAME_LABELS:
        return NVBW_OK; /* settled by the recorded run */
    case FRAME_FACTS:
        return take_facts(worker, err);
    default:
        return error_set(err, NVBW_E_INVALID,
            "a frame of type %u came from a run worker", type);
    }
}
