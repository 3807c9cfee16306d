/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "compare.h"

#include <math.h>

#include "judge.h"
#include "state.h"

const struct name comparison_words[] = {
    { COMPARE_SAME, "SAME" },
    { COMPARE_SLOWER, "SLOWER" },
    { COMPARE_FASTER, "FASTER" },
    { COMPARE_UNSURE, "UNSURE" },
    { COMPARE_LOST, "LOST" },
    { COMPARE_ONLY_NEW, "NEW" },
    { 0, NULL },
};

struct comparer {
    const struct compare_request *request;
    struct arena *arena;
    struct comparisons *out;
    struct error *err;
    uint32_t matched; /* cells of the old run that have one in the new */
};

/* ---- one cell ---- */

/* The gain from one figure to another: more of what is better higher, less of
 * what is better lower. */
static double gain(uint32_t better, double before, double now)
{
    return better == NVBW_LOWER ? before / now - 1.0 : now / before - 1.0;
}

static double below(const struct cell_figure *figure)
{
    return (figure->value - figure->low) / figure->value;
}

static double above(const struct cell_figure *figure)
{
    return (figure->high - figure->value) / figure->value;
}

/* The two scatters are independent, so they add as squares do. What happens
 * between runs has no part in either and is added whole. */
static void add_interval(struct comparison *comparison, uint32_t better)
{
    const int is_lower = better == NVBW_LOWER;
    const struct cell_figure *const up =
        is_lower ? &comparison->before : &comparison->now;
    const struct cell_figure *const down =
        is_lower ? &comparison->now : &comparison->before;
    const double ratio = 1.0 + comparison->change;

    comparison->low = comparison->change -
                      ratio * hypot(below(up), above(down)) -
                      COMPARE_BETWEEN_RUNS;
    comparison->high = comparison->change +
                       ratio * hypot(above(up), below(down)) +
                       COMPARE_BETWEEN_RUNS;
}

static uint32_t word_of(struct comparison *comparison)
{
    const double margin = comparison->margin;
    const int is_wild = comparison->before.spread > COMPARE_SPREAD_MOST &&
                        comparison->before.spread > margin;

    if (!(comparison->low <= comparison->high)) {
        comparison->reason = "too few samples to know their scatter";
        return COMPARE_UNSURE;
    }
    if (comparison->high < -margin) {
        return COMPARE_SLOWER;
    }
    if (comparison->low > margin) {
        return COMPARE_FASTER;
    }
    if (is_wild) {
        comparison->reason = "the old run scatters too much to tell";
        return COMPARE_UNSURE;
    }
    if (comparison->low >= -margin && comparison->high <= margin) {
        return COMPARE_SAME;
    }
    comparison->reason = "the interval crosses the margin";
    return COMPARE_UNSURE;
}

static void compare_figures(const struct comparer *comparer,
    const struct unit_shape *shape, struct comparison *comparison)
{
    const double spread = comparison->before.spread;
    const double widest =
        spread > COMPARE_SPREAD_MOST ? COMPARE_SPREAD_MOST : spread;

    comparison->margin = comparer->request->margin;
    if (widest > comparison->margin) {
        comparison->margin = widest;
    }
    comparison->change =
        gain(shape->better, comparison->before.value, comparison->now.value);
    add_interval(comparison, shape->better);
    comparison->word = word_of(comparison);
}

static const char *why_not_measured(const struct evidence *evidence,
    const struct unit *unit, const struct unit_shape *shape,
    const struct cell_place *place)
{
    const struct record *const record = evidence_cell(
        evidence, unit->id, shape->metric, place->row, place->col);
    const uint32_t state = record == NULL ? unit->state : record->state;
    const char *const name = name_of(state_names, state);

    return state == STATE_NONE || name == NULL ? "not_run" : name;
}

/* 0 where neither run has a figure: there is nothing to say. */
static int compare_cell(struct comparer *comparer,
    const struct counterpart *counterpart, const struct unit *unit,
    uint32_t number, struct comparison *out)
{
    const struct evidence *const now = comparer->request->now;
    struct cell_place place = { 0 };
    struct cell_place there = { 0 };

    if (!unit_cell_at(unit, number, &place)) {
        return 0;
    }

    const struct unit_shape *const shape = &unit->shapes[place.shape];

    *out = (struct comparison){ .unit = unit->id,
        .cell = number,
        .before = { NAN, NAN, NAN, NAN, 0, 0 },
        .now = { NAN, NAN, NAN, NAN, 0, 0 },
        .change = NAN,
        .low = NAN,
        .high = NAN,
        .margin = NAN };

    const int has_now = cell_figure_of(
        now, unit->id, shape->metric, place.row, place.col, &out->now);
    const int has_before =
        counterpart_cell(counterpart, unit, &place, &there) &&
        cell_figure_of(comparer->request->before, counterpart->unit->id,
            shape->metric, there.row, there.col, &out->before);

    comparer->matched += (uint32_t)has_before;
    if (has_now && has_before) {
        compare_figures(comparer, shape, out);
    } else if (has_before) {
        out->word = COMPARE_LOST;
        out->reason = why_not_measured(now, unit, shape, &place);
    } else {
        out->word = COMPARE_ONLY_NEW;
    }
    return has_now || has_before;
}

/* ---- all ---- */

static int32_t add(struct comparer *comparer, const struct comparison *one)
{
    struct comparisons *const out = comparer->out;
    struct comparison *const list =
        arena_append(comparer->arena, out->list, &out->count, sizeof *list);

    FAIL_IF(list == NULL, comparer->err, NVBW_E_SYSTEM,
        "no memory to compare runs");
    out->list = list;
    list[out->count - 1] = *one;
    out->by_word[one->word]++;
    return NVBW_OK;
}

static int32_t compare_unit(struct comparer *comparer, const struct unit *unit)
{
    const struct compare_request *const request = comparer->request;
    const uint32_t span = unit_cell_span(unit);
    struct counterpart counterpart;
    struct comparison one;

    TRY(counterpart_of_unit(request->now, unit, request->before, request->force,
        comparer->arena, &counterpart, comparer->err));
    FAIL_IF(counterpart.differs && !request->force, comparer->err,
        NVBW_E_INVALID,
        "the runs are of different plans: %s; --force compares what is alike",
        counterpart.trouble);
    for (uint32_t number = 0; number < span; number++) {
        if (compare_cell(comparer, &counterpart, unit, number, &one)) {
            TRY(add(comparer, &one));
        }
    }
    return NVBW_OK;
}

static uint32_t count_figures(const struct evidence *evidence)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < evidence->units_count; i++) {
        const struct unit *const unit = &evidence->units[i];
        const uint32_t span = unit_cell_span(unit);
        struct cell_place place = { 0 };
        struct cell_figure figure;

        for (uint32_t number = 0; number < span; number++) {
            count += (uint32_t)(unit_cell_at(unit, number, &place) &&
                                cell_figure_of(evidence, i,
                                    unit->shapes[place.shape].metric, place.row,
                                    place.col, &figure));
        }
    }
    return count;
}

int32_t compare_runs(const struct compare_request *request, struct arena *arena,
    struct comparisons *out, struct error *err)
{
    struct comparer comparer = {
        .request = request, .arena = arena, .out = out, .err = err
    };
    struct error why = { 0 };

    *out = (struct comparisons){ 0 };
    FAIL_IF(!request->force && counterpart_machine(&request->before->facts,
                                   &request->now->facts, &why) < 0,
        err, NVBW_E_INVALID,
        "the runs are of different machines: %.700s; --force compares them "
        "place by place",
        why.text);
    for (uint32_t i = 0; i < request->now->units_count; i++) {
        TRY(compare_unit(&comparer, &request->now->units[i]));
    }
    FAIL_IF(comparer.matched == 0, err, NVBW_E_INVALID,
        "the runs have no measured cell in common");

    const uint32_t before = count_figures(request->before);

    out->only_old = before > comparer.matched ? before - comparer.matched : 0;
    out->exit_code =
        out->by_word[COMPARE_SLOWER] + out->by_word[COMPARE_LOST] > 0
            ? EXIT_FAILED
            : EXIT_PASSED;
    return NVBW_OK;
}
