/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "conduct_unit.h"

#include <stdio.h>

#include "interview.h"
#include "schedule.h"
#include "state.h"

/* Of one unit: sets of cells, tasks, a recorded run. */
static const size_t UNIT_ARENA_BYTES = (size_t)512 << 20;

struct attempts {
    int32_t *next;    /* by cell number: the attempt to make, or -1 */
    uint32_t *series; /* by cell number: that it belongs to */
    uint32_t span;
    uint32_t highest; /* made or to be made */
};

/* ---- which cells ---- */

static int has_passed(
    const struct verdicts *before, uint32_t unit, uint32_t cell)
{
    static const unsigned char passed[STATE_COUNT] = { [STATE_PASS] = 1,
        [STATE_WARN] = 1,
        [STATE_UNCHECKED] = 1,
        [STATE_SKIP] = 1 };

    uint32_t low = 0;
    uint32_t high = before->count;

    /* Verdicts are in order of units and cells. */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const struct verdict *const at = &before->list[middle];

        if (at->unit < unit || (at->unit == unit && at->cell < cell)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < before->count && before->list[low].unit == unit &&
           before->list[low].cell == cell && passed[before->list[low].state];
}

/* A cell that was only put off is made up for in the attempt that it missed. */
static int32_t next_attempt(const struct record *record)
{
    if (record == NULL) {
        return 0;
    }
    if (record->state == STATE_CANCELLED || record->state == STATE_NOT_RUN) {
        return (int32_t)record->attempt;
    }
    return -1;
}

static int32_t plan_attempts(const struct conductor *conductor,
    const struct unit *unit, const struct verdicts *before, struct arena *arena,
    struct attempts *out, struct error *err)
{
    struct cell_place place;

    *out = (struct attempts){ .span = unit_cell_span(unit) };
    out->next = arena_alloc(arena, out->span, sizeof *out->next);
    out->series = arena_alloc(arena, out->span, sizeof *out->series);
    FAIL_IF(out->next == NULL || out->series == NULL, err, NVBW_E_SYSTEM,
        "no memory for the %u cells of %s/%s", out->span, unit->plugin,
        unit->testcase);
    for (uint32_t cell = 0; cell < out->span; cell++) {
        out->next[cell] = -1;
        if (!unit_cell_at(unit, cell, &place)) {
            continue;
        }

        const struct record *const record =
            evidence_cell(&conductor->rounds.now, unit->id,
                unit->shapes[place.shape].metric, place.row, place.col);

        out->next[cell] = next_attempt(record);
        out->series[cell] = record == NULL ? 0 : record->series;
        if (record != NULL && record->attempt > out->highest) {
            out->highest = record->attempt;
        }
    }
    if (before == NULL || unit->state != STATE_NONE) {
        return NVBW_OK;
    }
    out->highest++;
    for (uint32_t cell = 0; cell < out->span; cell++) {
        if (out->next[cell] < 0 && unit_cell_at(unit, cell, &place) &&
            !has_passed(
                before, unit->id + conductor->rounds.first_unit, cell)) {
            out->next[cell] = (int32_t)out->highest;
            out->series[cell] = out->highest;
        }
    }
    return NVBW_OK;
}

static uint32_t count_wanted(const struct attempts *attempts)
{
    uint32_t count = 0;

    for (uint32_t cell = 0; cell < attempts->span; cell++) {
        count += attempts->next[cell] >= 0;
    }
    return count;
}

/* ---- attempts ---- */

static int32_t run_cells(struct unit_run *run, uint32_t attempt,
    const struct cause *known, struct error *err)
{
    run->attempt = attempt;
    run->is_extra = attempt > 0;
    run->barren = 0;
    if (known->state != STATE_NONE) {
        return unit_run_settle_all(run, known, err);
    }
    return unit_run_cells(run, err);
}

static int32_t make_attempts(struct unit_run *run,
    const struct attempts *attempts, const struct cause *known,
    struct error *err)
{
    for (uint32_t attempt = 0; attempt <= attempts->highest; attempt++) {
        TRY(wanted_init(&run->wanted, run->unit, run->arena, err));
        for (uint32_t cell = 0; cell < attempts->span; cell++) {
            if (attempts->next[cell] == (int32_t)attempt) {
                wanted_add(&run->wanted, cell);
                run->conductor->ledger.series = attempts->series[cell];
            }
        }
        if (attempt > 0) {
            wanted_add_sources(&run->wanted);
        }
        if (run->wanted.count > 0) {
            TRY(run_cells(run, attempt, known, err));
        }
    }
    return NVBW_OK;
}

/* The attempt that would confirm a failed cell, and the series that it belongs
 * to; -1: it was confirmed as often as is asked. What was made before a run
 * was broken off counts, for each cell by itself. */
static int32_t confirming_attempt(
    const struct unit_run *run, uint32_t cell, uint32_t *out_series)
{
    struct cell_place place;

    if (!unit_cell_at(run->unit, cell, &place)) {
        return -1;
    }

    const struct record *const record =
        evidence_cell(&run->conductor->rounds.now, run->unit->id,
            run->unit->shapes[place.shape].metric, place.row, place.col);

    if (record == NULL ||
        record->attempt >= record->series + run->unit->confirm) {
        return -1;
    }
    *out_series = record->series;
    return (int32_t)record->attempt + 1;
}

/* Wants those of the cells that are to make the earliest attempt, and returns
 * it; -1: none has one to make. */
static int32_t want_earliest(
    struct unit_run *run, const uint32_t *cells, uint32_t count)
{
    int32_t earliest = -1;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t series = 0;
        const int32_t attempt = confirming_attempt(run, cells[i], &series);

        if (attempt >= 0 && (earliest < 0 || attempt < earliest)) {
            earliest = attempt;
            run->conductor->ledger.series = series;
        }
    }
    for (uint32_t i = 0; earliest >= 0 && i < count; i++) {
        uint32_t series = 0;

        if (confirming_attempt(run, cells[i], &series) == earliest &&
            series == run->conductor->ledger.series) {
            wanted_add(&run->wanted, cells[i]);
        }
    }
    return earliest;
}

/* The judge says which cells fail; they are run again, and it is asked
 * again. */
static int32_t confirm(
    struct unit_run *run, uint32_t *out_runs, struct error *err)
{
    static const struct cause none = { .state = STATE_NONE };
    struct cause cut;

    while (!conductor_is_cut(run->conductor, &cut)) {
        uint32_t *cells = NULL;
        uint32_t count = 0;

        TRY(judge_unit(&run->conductor->rounds.now, run->unit->id, run->arena,
            &cells, &count, err));
        TRY(wanted_init(&run->wanted, run->unit, run->arena, err));

        const int32_t attempt = want_earliest(run, cells, count);

        if (attempt < 0) {
            return NVBW_OK;
        }
        wanted_add_sources(&run->wanted);
        *out_runs += 1;
        TRY(run_cells(run, (uint32_t)attempt, &none, err));
    }
    return NVBW_OK;
}

/* ---- recorded runs ---- */

static int32_t close_axes(struct conductor *conductor, struct unit *unit,
    struct arena *arena, struct cause *out_known, struct error *err)
{
    struct evidence *const evidence = &conductor->rounds.now;
    struct schedule schedule = { .units = evidence->units,
        .units_count = evidence->units_count };
    struct recording recording;
    struct error why = { .status = NVBW_OK };

    TRY(interview_record(conductor->request->setup, &conductor->crew,
        &evidence->facts, unit, arena, &recording, out_known, err));
    if (out_known->state != STATE_NONE) {
        return NVBW_OK;
    }
    if (schedule_close_axes(&schedule, unit->id, recording.labels,
            recording.labels_count, &conductor->rounds.arena, &why) < 0) {
        *out_known =
            (struct cause){ .state = STATE_ERROR, .reason = "contract" };
        snprintf(out_known->text, sizeof out_known->text, "%s", why.text);
        return NVBW_OK;
    }
    TRY(ledger_add(&conductor->ledger, LINE_UNIT, unit, err));
    return rounds_keep_axes(&conductor->rounds, unit, err);
}

/* What is known before any cell is measured: the state that the schedule gave
 * the unit, or that of a recorded run that failed. */
static int32_t know_before(struct conductor *conductor, struct unit *unit,
    struct arena *arena, struct cause *out_known, struct error *err)
{
    struct cause cut;

    *out_known = (struct cause){ .state = unit->state, .reason = unit->reason };
    if (unit->state != STATE_NONE) {
        snprintf(out_known->text, sizeof out_known->text, "%s",
            unit->message != NULL ? unit->message : "");
        return NVBW_OK;
    }
    if (!unit->open_axes || conductor_is_cut(conductor, &cut)) {
        return NVBW_OK;
    }
    TRY(close_axes(conductor, unit, arena, out_known, err));
    if (conductor_is_cut(conductor, &cut)) {
        *out_known = (struct cause){ .state = STATE_NONE };
    }
    return NVBW_OK;
}

static int32_t work(struct unit_run *run, struct unit *unit,
    const struct verdicts *before, uint32_t *out_worked, struct error *err)
{
    const struct conduct_watch *const watch = run->conductor->request->watch;
    struct attempts attempts;
    struct cause known;
    struct cause cut;

    TRY(know_before(run->conductor, unit, run->arena, &known, err));
    TRY(plan_attempts(
        run->conductor, unit, before, run->arena, &attempts, err));

    /* Of what a stop leaves out the report tells: it has to be quick. */
    const uint32_t wanted =
        conductor_is_cut(run->conductor, &cut) ? 0 : count_wanted(&attempts);

    if (watch != NULL && watch->unit_begins != NULL) {
        watch->unit_begins(watch->user, unit,
            unit->id + run->conductor->rounds.first_unit, wanted);
    }
    if (known.state == STATE_NONE && wanted > 0) {
        *out_worked = 1;
    }
    TRY(make_attempts(run, &attempts, &known, err));
    if (known.state != STATE_NONE) {
        return NVBW_OK;
    }
    return confirm(run, out_worked, err);
}

int32_t conduct_unit(struct conductor *conductor, uint32_t unit,
    const struct verdicts *before, uint32_t *out_worked, struct error *err)
{
    struct unit *const at = &conductor->rounds.now.units[unit];
    struct arena arena;
    struct unit_run run = {
        .conductor = conductor, .unit = at, .arena = &arena
    };

    *out_worked = 0;
    arena_init(&arena, UNIT_ARENA_BYTES);

    const int32_t status = work(&run, at, before, out_worked, err);

    arena_clear(&arena);
    return status;
}
