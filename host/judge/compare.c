/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "compare.h"

#include <math.h>
#include <string.h>

#include "cells.h"
#include "judge.h"
#include "state.h"

const struct name comparison_words[] = {
    { COMPARE_SAME, "SAME" },
    { COMPARE_SLOWER, "SLOWER" },
    { COMPARE_FASTER, "FASTER" },
    { COMPARE_UNSURE, "UNSURE" },
    { COMPARE_LOST, "LOST" },
    { COMPARE_LEFT_OUT, "LEFT_OUT" },
    { COMPARE_ONLY_NEW, "NEW" },
    { 0, NULL },
};

struct comparer {
    const struct compare_request *request;
    struct arena *arena;
    struct comparisons *out;
    struct error *err;
    uint32_t matched; /* cells of the new run that have a figure in the old */
    uint8_t
        *is_used;   /* per cell of the old run: one of the new stands for it */
    size_t *starts; /* where each old unit's cells begin in is_used */
};

/* ---- which cells of the old run are used ---- */

static int32_t start_marks(struct comparer *comparer)
{
    const struct evidence *const before = comparer->request->before;
    size_t count = 0;

    comparer->starts = arena_alloc(comparer->arena,
        (size_t)before->units_count + 1, sizeof *comparer->starts);
    FAIL_IF(comparer->starts == NULL, comparer->err, NVBW_E_SYSTEM,
        "no memory to compare runs");
    for (uint32_t i = 0; i < before->units_count; i++) {
        comparer->starts[i] = count;
        count += unit_cell_span(&before->units[i]);
    }
    comparer->is_used = arena_alloc(comparer->arena, count + 1, 1);
    FAIL_IF(comparer->is_used == NULL, comparer->err, NVBW_E_SYSTEM,
        "no memory to compare runs");
    return NVBW_OK;
}

static void mark_used(const struct comparer *comparer, const struct unit *unit,
    const struct cell_place *place)
{
    const int32_t number = unit_cell_number(
        unit, unit->shapes[place->shape].metric, place->row, place->col);

    if (number >= 0) {
        comparer->is_used[comparer->starts[unit->id] + (size_t)number] = 1;
    }
}

static int has_used(const struct comparer *comparer, uint32_t unit)
{
    return memchr(comparer->is_used + comparer->starts[unit], 1,
               unit_cell_span(&comparer->request->before->units[unit])) != NULL;
}

/* A longer run has more rounds of the same. */
static int is_round_of_used(const struct comparer *comparer, uint32_t unit)
{
    const struct unit *const units = comparer->request->before->units;

    for (uint32_t i = 0; i < unit; i++) {
        if (counterpart_is_same_unit(&units[i], &units[unit])) {
            return has_used(comparer, i);
        }
    }
    return 0;
}

static uint32_t count_unused(const struct comparer *comparer, uint32_t unit)
{
    const struct evidence *const before = comparer->request->before;
    const struct unit *const at = &before->units[unit];
    const uint32_t span = unit_cell_span(at);
    struct cell_place place = { 0 };
    struct cell_figure figure;
    uint32_t count = 0;

    for (uint32_t number = 0; number < span; number++) {
        count +=
            (uint32_t)(!comparer->is_used[comparer->starts[unit] + number] &&
                       unit_cell_at(at, number, &place) &&
                       cell_figure_of(before, unit,
                           at->shapes[place.shape].metric, place.row, place.col,
                           &figure));
    }
    return count;
}

static uint32_t count_only_old(const struct comparer *comparer)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < comparer->request->before->units_count; i++) {
        if (!is_round_of_used(comparer, i)) {
            count += count_unused(comparer, i);
        }
    }
    return count;
}

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

/* Not hypot(), which glibc has with a version of 2.35: the bundle runs with
 * 2.34. */
static double root_of_squares(double one, double other)
{
    return sqrt(one * one + other * other);
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
                      ratio * root_of_squares(below(up), above(down)) -
                      COMPARE_BETWEEN_RUNS;
    comparison->high = comparison->change +
                       ratio * root_of_squares(above(up), below(down)) +
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
    if (comparison->high < -comparison->reach) {
        return COMPARE_SLOWER;
    }
    if (comparison->low > comparison->reach) {
        return COMPARE_FASTER;
    }
    if (comparison->high < -margin || comparison->low > margin) {
        comparison->reason = "healthy runs differ by as much";
        return COMPARE_UNSURE;
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

/* What several runs of this machine differed by is the old side's own spread
 * and so part of the margin. What a table says of other machines is not: it
 * makes nothing the same, it only keeps from calling something slower. */
static void add_reach(const struct comparer *comparer,
    const struct unit_shape *shape, struct comparison *comparison)
{
    if (!isnan(comparison->before.between)) {
        comparison->kind = "runs of the baseline";
        comparison->margin =
            fmax(comparison->margin, comparison->before.between);
        comparison->reach = comparison->margin;
        return;
    }

    const struct between_runs between = cell_between_runs(
        comparer->request->now, comparison->now.record, shape);

    comparison->kind = between.what;
    comparison->reach = fmax(comparison->margin, between.reach);
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
    add_reach(comparer, shape, comparison);
    comparison->change =
        gain(shape->better, comparison->before.value, comparison->now.value);
    add_interval(comparison, shape->better);
    comparison->word = word_of(comparison);
}

/* Whoever asked for the run asked for less than all of the plan: these say
 * nothing of the machine. */
static int is_choice(uint32_t state, const char *reason)
{
    static const struct {
        uint32_t state;
        const char *reason;
    } choices[] = {
        { STATE_SKIP, "excluded" },
        { STATE_NOT_RUN, "budget" },
    };

    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        if (choices[i].state == state && reason != NULL &&
            strcmp(choices[i].reason, reason) == 0) {
            return 1;
        }
    }
    return 0;
}

static void settle_not_measured(const struct comparer *comparer,
    const struct unit *unit, const struct unit_shape *shape,
    const struct cell_place *place, struct comparison *out)
{
    const struct evidence *const now = comparer->request->now;
    const struct record *const record =
        evidence_cell(now, unit->id, shape->metric, place->row, place->col);
    uint32_t state = record == NULL ? unit->state : record->state;
    const char *reason = record == NULL ? unit->reason : record->reason;

    if (state == STATE_NONE) {
        state = STATE_NOT_RUN;
        reason = cells_unreached_reason(now);
    }

    const char *const name = name_of(state_names, state);

    out->word = is_choice(state, reason) ? COMPARE_LEFT_OUT : COMPARE_LOST;
    out->reason = name == NULL || reason == NULL
                      ? name
                      : arena_format(comparer->arena, "%s (%s)", name, reason);
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
        .before = { .value = NAN },
        .now = { .value = NAN },
        .change = NAN,
        .low = NAN,
        .high = NAN,
        .margin = NAN,
        .reach = NAN };

    const int has_now = cell_figure_of(
        now, unit->id, shape->metric, place.row, place.col, &out->now);
    const int is_there = counterpart_cell(counterpart, unit, &place, &there);
    const int has_before = is_there && cell_figure_of(comparer->request->before,
                                           counterpart->unit->id, shape->metric,
                                           there.row, there.col, &out->before);

    if (is_there) {
        mark_used(comparer, counterpart->unit, &there);
    }
    comparer->matched += (uint32_t)has_before;
    if (has_now && has_before) {
        compare_figures(comparer, shape, out);
    } else if (has_before) {
        settle_not_measured(comparer, unit, shape, &place, out);
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
    TRY(start_marks(&comparer));
    for (uint32_t i = 0; i < request->now->units_count; i++) {
        TRY(compare_unit(&comparer, &request->now->units[i]));
    }
    FAIL_IF(comparer.matched == 0, err, NVBW_E_INVALID,
        "the runs have no measured cell in common");
    FAIL_IF(out->by_word[COMPARE_LEFT_OUT] == comparer.matched, err,
        NVBW_E_INVALID,
        "the runs have no measured cell in common: the new one left out all "
        "that the old one measured");
    out->only_old = count_only_old(&comparer);
    out->exit_code =
        out->by_word[COMPARE_SLOWER] + out->by_word[COMPARE_LOST] > 0
            ? EXIT_FAILED
            : EXIT_PASSED;
    return NVBW_OK;
}
