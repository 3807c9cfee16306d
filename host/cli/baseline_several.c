/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "baseline_several.h"

#include <string.h>

#include "attempts.h"
#include "baseline_file.h"
#include "counterpart.h"

struct joiner {
    const struct baseline_run *runs;
    uint32_t count;
    struct arena *arena;
    struct strbuf *out;
    struct error *err;
    uint32_t cells, left;
    const uint32_t **starts;   /* per run: each unit's first verdict */
    struct counterpart *there; /* per run, of the unit at hand */
};

/* ---- what is joined ---- */

static int is_same_text(const char *one, const char *other)
{
    return one == other ||
           (one != NULL && other != NULL && strcmp(one, other) == 0);
}

/* Records name GPUs by their positions. */
static int32_t check_machine(
    const struct joiner *joiner, const struct baseline_run *run)
{
    const struct facts *const own = &joiner->runs[0].evidence.facts;
    const struct facts *const other = &run->evidence.facts;
    struct error why = { 0 };

    FAIL_IF(counterpart_machine(other, own, &why) < 0, joiner->err,
        NVBW_E_INVALID, "%s and %s are of different machines: %.700s",
        joiner->runs[0].name, run->name, why.text);
    for (uint32_t i = 0; i < own->gpus_count; i++) {
        FAIL_IF(!is_same_text(own->gpus[i].uuid, other->gpus[i].uuid),
            joiner->err, NVBW_E_INVALID,
            "%s and %s count the GPUs of their machine in another order",
            joiner->runs[0].name, run->name);
    }
    return NVBW_OK;
}

/* Verdicts stand in order of units and cells. */
static const uint32_t *starts_of(
    const struct evidence *evidence, struct arena *arena)
{
    uint32_t *const starts =
        arena_alloc(arena, (size_t)evidence->units_count + 1, sizeof *starts);
    uint32_t next = 0;

    for (uint32_t i = 0; starts != NULL && i < evidence->units_count; i++) {
        starts[i] = next;
        next += unit_cell_count(&evidence->units[i]);
    }
    return starts;
}

static int32_t start(struct joiner *joiner)
{
    joiner->starts =
        arena_alloc(joiner->arena, joiner->count, sizeof *joiner->starts);
    joiner->there =
        arena_alloc(joiner->arena, joiner->count, sizeof *joiner->there);
    FAIL_IF(joiner->starts == NULL || joiner->there == NULL, joiner->err,
        NVBW_E_SYSTEM, "out of memory");
    for (uint32_t i = 0; i < joiner->count; i++) {
        TRY(check_machine(joiner, &joiner->runs[i]));
        joiner->starts[i] = starts_of(&joiner->runs[i].evidence, joiner->arena);
        FAIL_IF(joiner->starts[i] == NULL, joiner->err, NVBW_E_SYSTEM,
            "out of memory");
    }
    return NVBW_OK;
}

static int32_t find_unit(struct joiner *joiner, const struct unit *unit)
{
    for (uint32_t i = 0; i < joiner->count; i++) {
        struct counterpart *const there = &joiner->there[i];

        TRY(counterpart_of_unit(&joiner->runs[0].evidence, unit,
            &joiner->runs[i].evidence, 0, joiner->arena, there, joiner->err));
        FAIL_IF(there->differs, joiner->err, NVBW_E_INVALID,
            "%s and %s are of different plans: %s", joiner->runs[0].name,
            joiner->runs[i].name, there->trouble);
    }
    return NVBW_OK;
}

/* ---- one cell ---- */

static const struct verdict *verdict_at(const struct joiner *joiner,
    uint32_t run, const struct unit *unit, const struct cell_place *place)
{
    const int32_t number = unit_cell_number(
        unit, unit->shapes[place->shape].metric, place->row, place->col);
    const struct verdicts *const verdicts = &joiner->runs[run].verdicts;

    for (uint32_t i = joiner->starts[run][unit->id];
         number >= 0 && i < verdicts->count; i++) {
        if (verdicts->list[i].unit == unit->id &&
            verdicts->list[i].cell == (uint32_t)number) {
            return &verdicts->list[i];
        }
    }
    return NULL;
}

/* The run's attempt at the cell, NULL: none that is sound. */
static const struct record *typical_of(const struct joiner *joiner,
    uint32_t run, const struct unit *own, const struct cell_place *place)
{
    const struct counterpart *const there = &joiner->there[run];
    struct cell_place at = { 0 };
    struct attempts attempts;

    if (!counterpart_cell(there, own, place, &at)) {
        return NULL;
    }

    const struct verdict *const verdict =
        verdict_at(joiner, run, there->unit, &at);

    attempts_of_cell(&joiner->runs[run].evidence, there->unit->id,
        there->unit->shapes[at.shape].metric, at.row, at.col, &attempts);
    return attempts.count == 0 || attempts.counting->state != STATE_MEASURED ||
                   verdict == NULL || !baseline_is_sound(verdict)
               ? NULL
               : attempts_typical(&attempts);
}

static int32_t add_cell(struct joiner *joiner, const struct unit *unit,
    const struct cell_place *place)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < joiner->count; i++) {
        const struct record *const typical = typical_of(joiner, i, unit, place);

        if (typical != NULL) {
            struct record record = *typical;

            record.unit = unit->id;
            record.attempt = found++;
            record.series = 0;
            record.row = place->row;
            record.col = place->col;
            TRY(line_format(joiner->out, LINE_CELL, &record, joiner->err));
        }
    }
    joiner->cells += (uint32_t)(found > 0);
    joiner->left += (uint32_t)(found == 0);
    return NVBW_OK;
}

static int32_t add_unit(struct joiner *joiner, const struct unit *unit)
{
    const uint32_t span = unit_cell_span(unit);
    struct cell_place place = { 0 };

    TRY(find_unit(joiner, unit));
    for (uint32_t number = 0; number < span; number++) {
        if (unit_cell_at(unit, number, &place)) {
            TRY(add_cell(joiner, unit, &place));
        }
    }
    return NVBW_OK;
}

int32_t baseline_format_several(const struct baseline_run *runs, uint32_t count,
    struct arena *arena, struct strbuf *out, uint32_t *out_cells,
    uint32_t *out_left, struct error *err)
{
    struct joiner joiner = {
        .runs = runs, .count = count, .arena = arena, .out = out, .err = err
    };
    struct evidence head = runs[0].evidence;

    FAIL_IF(count > ATTEMPTS_LIMIT, err, NVBW_E_INVALID,
        "%u runs are more than the %d that a baseline may have", count,
        (int)ATTEMPTS_LIMIT);
    head.header.runs = count;
    TRY(start(&joiner));
    TRY(baseline_format_head(&head, out, err));
    for (uint32_t i = 0; i < head.units_count; i++) {
        TRY(add_unit(&joiner, &head.units[i]));
    }
    *out_cells = joiner.cells;
    *out_left = joiner.left;
    return NVBW_OK;
}
