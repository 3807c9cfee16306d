/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cells.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attempts.h"
#include "limit.h"

/* One cell while it is judged. */
struct judged {
    const struct judging *judging;
    const struct bound_source *source;
    const struct unit *unit;
    const struct unit_shape *shape;
    struct attempts attempts;
    struct verdict *verdict;
};

static void settle(struct verdict *verdict, uint32_t state, const char *reason,
    const char *message)
{
    verdict->state = state;
    verdict->reason = reason;
    verdict->message = message;
}

/* ---- cells that were not measured ---- */

static const char *words_of(uint32_t state, const char *reason)
{
    const struct reason *const found = reason_find(state, reason);

    return found == NULL ? NULL : found->text;
}

const char *cells_unreached_reason(const struct evidence *evidence)
{
    return evidence->ended && evidence->end.budget_used ? "budget" : "stopped";
}

static void settle_unreached(
    const struct evidence *evidence, struct verdict *verdict)
{
    const char *const reason = cells_unreached_reason(evidence);

    settle(verdict, STATE_NOT_RUN, reason, words_of(STATE_NOT_RUN, reason));
}

static void settle_unmeasured(struct judged *cell)
{
    struct verdict *const verdict = cell->verdict;
    const struct record *const record = cell->attempts.counting;
    const struct unit *const unit = cell->unit;

    if (record == NULL && unit->state == STATE_NONE) {
        settle_unreached(cell->judging->evidence, verdict);
    } else if (record == NULL) {
        settle(verdict, unit->state, unit->reason, unit->message);
    } else if (record->state == STATE_MEASURED) {
        settle(verdict, STATE_ERROR, "protocol",
            "the record of a measured cell holds no sample");
    } else {
        settle(verdict, record->state, record->reason, record->message);
    }
    if (verdict->message == NULL) {
        verdict->message = words_of(verdict->state, verdict->reason);
    }
}

/* ---- what the hardware can do ---- */

static int has_flag(const struct record *record, const char *flag)
{
    for (uint32_t i = 0; i < record->flags_count; i++) {
        if (strcmp(record->flags[i], flag) == 0) {
            return 1;
        }
    }
    return 0;
}

static char *keep(const struct judged *cell, const char *text)
{
    return arena_text(cell->judging->arena, text);
}

/* 1 if a GPU's cache may have answered for its memory. A cache at the end of a
 * link makes the link no faster. */
static int stands_for_memory(
    const struct record *record, const struct ceiling *ceiling)
{
    return ceiling->link == LINK_MEMORY && has_flag(record, "cache_bound");
}

/* 1 if the figure is impossible, and then settles the cell. */
static int settle_impossible(struct judged *cell)
{
    const struct record *const record = cell->verdict->record;
    struct ceiling ceiling;

    ceiling_of_record(
        &cell->judging->evidence->facts, record, CEILING_PHYSICAL, &ceiling);
    if (isnan(ceiling.rate) || stands_for_memory(record, &ceiling) ||
        !(cell->verdict->figure > ceiling.rate)) {
        return 0;
    }

    char figure[32];

    quantity_format(
        cell->verdict->figure, cell->shape->unit, figure, sizeof figure);
    settle(cell->verdict, STATE_INVALID, "above_limit",
        arena_format(cell->judging->arena,
            "%s is above what the hardware can do (%s)", figure,
            ceiling.formula));
    return 1;
}

/* What a GPU's cache answers is no share of what its memory carries. */
static void add_utilisation(struct judged *cell)
{
    struct verdict *const verdict = cell->verdict;
    struct ceiling ceiling;

    ceiling_of_record(&cell->judging->evidence->facts, verdict->record,
        CEILING_EXPECTED, &ceiling);
    if (isnan(ceiling.rate) || stands_for_memory(verdict->record, &ceiling)) {
        return;
    }
    verdict->theoretical = ceiling.rate;
    verdict->theoretical_formula = keep(cell, ceiling.formula);
    verdict->utilisation = verdict->figure / ceiling.rate;
}

/* ---- limits ---- */

static int32_t gpu_number(
    const struct facts *facts, const struct unit *unit, uint32_t at)
{
    return at < unit->gpus_count && unit->gpus[at] < facts->gpus_count
               ? facts->gpus[unit->gpus[at]].index
               : -1;
}

uint32_t cell_devices(const struct facts *facts, const struct unit *unit,
    const struct unit_shape *shape, uint32_t row, uint32_t col,
    int32_t out_devices[2])
{
    const char *const axes[2] = { shape->row_axis, shape->col_axis };
    const uint32_t places[2] = { row, col };
    uint32_t count = 0;

    for (int i = 0; i < 2; i++) {
        if (axes[i] == NULL || strcmp(axes[i], "gpu") != 0) {
            continue;
        }

        const int32_t number = gpu_number(facts, unit, places[i]);

        if (number >= 0 && (count == 0 || out_devices[0] != number)) {
            out_devices[count++] = number;
        }
    }
    return count;
}

static uint64_t copy_bytes(const struct unit *unit, const struct record *record)
{
    const struct unit_param *const param = unit_param(unit, "buffer_size");
    uint64_t bytes = 0;

    if (record->copy_bytes != 0 || param == NULL || param->values_count == 0) {
        return record->copy_bytes;
    }
    return quantity_size(param->values[0], &bytes, NULL) < 0 ? 0 : bytes;
}

static const struct plan_limit *find_limit(const struct judged *cell)
{
    const struct facts *const facts = &cell->judging->evidence->facts;
    const struct verdict *const verdict = cell->verdict;
    int32_t devices[2] = { 0 };
    const struct limit_cell asked = {
        .testcase = cell->unit->testcase,
        .metric = verdict->metric,
        .unit = cell->shape->unit,
        .better = cell->shape->better,
        .devices = devices,
        .devices_count = cell_devices(facts, cell->unit, cell->shape,
            verdict->row, verdict->col, devices),
        .direction = traffic_direction(facts, verdict->record),
        .buffer_bytes = copy_bytes(cell->unit, verdict->record),
    };

    return limit_find(
        &cell->judging->evidence->plan, cell->unit->suite, &asked);
}

static int passes(const struct judged *cell, double figure, double limit)
{
    return cell->shape->better == NVBW_LOWER ? figure <= limit
                                             : figure >= limit;
}

static const char *warn_text(
    const struct judged *cell, const struct plan_limit *limit)
{
    const struct plan *const plan = &cell->judging->evidence->plan;
    const uint32_t suite = cell->unit->suite;

    if (limit->warn != NULL) {
        return limit->warn;
    }
    if (suite < plan->suites_count &&
        plan->suites[suite].settings.warn != NULL) {
        return plan->suites[suite].settings.warn;
    }
    return plan->defaults.warn;
}

static void settle_against(struct judged *cell, const char *text)
{
    struct verdict *const verdict = cell->verdict;
    const int is_relative = !isnan(verdict->base);
    char figure[32];
    char bound[32];

    quantity_format(verdict->figure, cell->shape->unit, figure, sizeof figure);
    quantity_format(verdict->limit, cell->shape->unit, bound, sizeof bound);
    for (uint32_t i = 0; i < cell->attempts.count; i++) {
        verdict->passed +=
            (uint32_t)passes(cell, cell->attempts.medians[i], verdict->limit);
    }
    if (attempts_are_enough(
            cell->unit->pass_rule, verdict->passed, verdict->attempts)) {
        settle(verdict, STATE_PASS, NULL, NULL);
        return;
    }
    settle(verdict, STATE_FAIL, "limit",
        arena_format(cell->judging->arena, "%s is %s %s%s%s%s in %u of %u %s",
            figure, cell->shape->better == NVBW_LOWER ? "above" : "below",
            bound, is_relative ? " (" : "", is_relative ? text : "",
            is_relative ? ")" : "", verdict->attempts - verdict->passed,
            verdict->attempts,
            verdict->attempts == 1 ? "attempt" : "attempts"));
}

static void settle_warning(struct judged *cell)
{
    struct verdict *const verdict = cell->verdict;
    char edge[32];

    if (verdict->state != STATE_PASS || isnan(verdict->warn) ||
        passes(cell, verdict->figure, verdict->warn)) {
        return;
    }
    quantity_format(verdict->warn, cell->shape->unit, edge, sizeof edge);
    settle(verdict, STATE_WARN, "warn_band",
        arena_format(cell->judging->arena, "passes, but is beyond %s (%s)",
            edge, verdict->warn_text));
}

/* A percentage whose base is not known. Under a pattern the limit was not
 * meant for this cell; by name it was, and then the base is missed. */
static void settle_without_base(struct judged *cell,
    const struct plan_limit *limit, const struct bound *bound)
{
    const char *const reason = limit_is_exact(limit) ? "no_base" : "no_limit";

    settle(cell->verdict, STATE_UNCHECKED, reason, keep(cell, bound->trouble));
}

static void note_warning(struct judged *cell, const struct plan_limit *limit)
{
    const char *const text = warn_text(cell, limit);
    struct bound bound;

    if (text != NULL) {
        bound_of(cell->source, cell->verdict->record, text, &bound);
        cell->verdict->warn = bound.value;
        cell->verdict->warn_text = text;
    }
}

/* What the limit comes to for this cell, whether there is a figure to hold
 * against it or not. 0 where its base is not known; *out_bound says why. */
static int note_limit(struct judged *cell, const struct plan_limit *limit,
    struct bound *out_bound)
{
    struct verdict *const verdict = cell->verdict;
    const char *const text = limit_text(limit, cell->shape->better);

    verdict->limit_is_max = cell->shape->better == NVBW_LOWER;
    verdict->limit_text = text;
    verdict->limit_origin = limit->origin;
    bound_of(cell->source, verdict->record, text, out_bound);
    if (isnan(out_bound->value)) {
        verdict->base_trouble = keep(cell, out_bound->trouble);
        return 0;
    }
    verdict->limit = out_bound->value;
    verdict->base = out_bound->base_value;
    verdict->base_formula =
        out_bound->formula[0] == '\0' ? NULL : keep(cell, out_bound->formula);
    note_warning(cell, limit);
    return 1;
}

/* A cell without a figure still has its limit, for --explain-limits and for
 * who asks what was not shown. */
static void note_limit_unmet(struct judged *cell)
{
    const struct plan_limit *const limit =
        cell->verdict->record == NULL ? NULL : find_limit(cell);
    struct bound bound;

    if (limit != NULL) {
        note_limit(cell, limit, &bound);
    }
}

/* That a figure which a cache may have answered reaches a share of what the
 * memory carries says nothing of the memory; that it does not says enough.
 * Siblings and a baseline moved as few bytes. */
static int is_beside_limit(const struct judged *cell, const struct bound *bound)
{
    struct ceiling ceiling;

    if (cell->shape->unit != NVBW_UNIT_BYTES_PER_SECOND ||
        (bound->base != LIMIT_EXPECTED && bound->base != LIMIT_LINK)) {
        return 0;
    }
    ceiling_of_record(&cell->judging->evidence->facts, cell->verdict->record,
        CEILING_EXPECTED, &ceiling);
    return stands_for_memory(cell->verdict->record, &ceiling);
}

static void settle_cached(struct judged *cell)
{
    struct verdict *const verdict = cell->verdict;
    char figure[32];

    quantity_format(verdict->figure, cell->shape->unit, figure, sizeof figure);
    verdict->limit = NAN;
    verdict->warn = NAN;
    verdict->margin = NAN;
    settle(verdict, STATE_UNCHECKED, "cache_bound",
        arena_format(cell->judging->arena,
            "%s may be the rate of the GPU's cache, so it is not held to %s; "
            "a larger buffer_size outruns the cache",
            figure, verdict->limit_text));
}

static void settle_by_limit(struct judged *cell)
{
    struct verdict *const verdict = cell->verdict;
    const struct plan_limit *const limit = find_limit(cell);
    struct bound bound;

    if (limit == NULL) {
        settle(verdict, STATE_UNCHECKED, "no_limit",
            words_of(STATE_UNCHECKED, "no_limit"));
        return;
    }

    if (!note_limit(cell, limit, &bound)) {
        settle_without_base(cell, limit, &bound);
        return;
    }
    verdict->margin = (verdict->figure - bound.value) / bound.value *
                      (verdict->limit_is_max ? -1.0 : 1.0);
    settle_against(cell, verdict->limit_text);
    settle_warning(cell);
    if (verdict->state != STATE_FAIL && is_beside_limit(cell, &bound)) {
        settle_cached(cell);
    }
}

/* ---- one unit ---- */

static void begin(
    struct judged *cell, uint32_t number, const struct cell_place *place)
{
    const struct evidence *const evidence = cell->judging->evidence;

    cell->shape = &cell->unit->shapes[place->shape];
    *cell->verdict = (struct verdict){
        .unit = cell->unit->id,
        .row = place->row,
        .col = place->col,
        .metric = cell->shape->metric,
        .cell = number,
        .figure = NAN,
        .limit = NAN,
        .warn = NAN,
        .base = NAN,
        .theoretical = NAN,
        .utilisation = NAN,
        .margin = NAN,
    };
    stats_of(NULL, 0, &cell->verdict->stats);
    attempts_of_cell(evidence, cell->unit->id, cell->shape->metric, place->row,
        place->col, &cell->attempts);
    cell->verdict->record = cell->attempts.counting;
}

static int is_measured(const struct judged *cell)
{
    return cell->attempts.counting != NULL && cell->attempts.count > 0 &&
           cell->attempts.counting->state == STATE_MEASURED;
}

static void add_figure(struct judged *cell)
{
    struct verdict *const verdict = cell->verdict;

    verdict->figure = cell->attempts.figure;
    verdict->attempts = cell->attempts.count;
    verdict->record = attempts_typical(&cell->attempts);
    stats_of(verdict->record->samples, verdict->record->samples_count,
        &verdict->stats);
}

static void finish(struct judged *cell)
{
    struct verdict *const verdict = cell->verdict;
    const char *const reason = verdict->reason;
    const int has_limit =
        reason != NULL &&
        (strcmp(reason, "no_base") == 0 || strcmp(reason, "cache_bound") == 0);

    verdict->exit_code = (uint32_t)outcome_of_cell(
        verdict->state, reason, cell->unit->required, has_limit);
}

/* First pass: figures, and which cells are siblings. */
static int32_t gather(const struct judging *judging, const struct unit *unit,
    struct siblings *siblings)
{
    const uint32_t span = unit_cell_span(unit);
    struct attempts attempts;
    struct cell_place place;

    for (uint32_t number = 0; number < span; number++) {
        if (!unit_cell_at(unit, number, &place)) {
            continue;
        }
        attempts_of_cell(judging->evidence, unit->id,
            unit->shapes[place.shape].metric, place.row, place.col, &attempts);
        if (attempts.count > 0 && attempts.counting->state == STATE_MEASURED) {
            TRY(siblings_add(siblings, &judging->evidence->facts,
                attempts_typical(&attempts), attempts.figure, judging->arena,
                judging->err));
        }
    }
    return NVBW_OK;
}

static void judge_cell(struct judged *cell)
{
    if (!is_measured(cell)) {
        settle_unmeasured(cell);
        note_limit_unmet(cell);
    } else {
        add_figure(cell);
        if (cell->shape->unit == NVBW_UNIT_BYTES_PER_SECOND) {
            add_utilisation(cell);
        }
        if (cell->shape->unit != NVBW_UNIT_BYTES_PER_SECOND ||
            !settle_impossible(cell)) {
            settle_by_limit(cell);
        }
    }
    finish(cell);
}

/* A baseline of another machine has nothing to say. */
static int32_t find_counterpart(const struct judging *judging,
    const struct unit *unit, struct counterpart *out)
{
    const struct evidence *const baseline = judging->evidence->baseline;
    struct error why = { 0 };

    if (baseline == NULL) {
        return NVBW_OK;
    }
    if (counterpart_machine(&baseline->facts, &judging->evidence->facts, &why) <
        0) {
        snprintf(out->trouble, sizeof out->trouble,
            "of another machine: %.200s", why.text);
        return NVBW_OK;
    }
    return counterpart_of_unit(judging->evidence, unit, baseline, 0,
        judging->arena, out, judging->err);
}

int32_t cells_judge(
    const struct judging *judging, uint32_t unit, struct verdict *list)
{
    const struct unit *const of = &judging->evidence->units[unit];
    struct siblings *const siblings = siblings_new(judging->arena);
    struct counterpart counterpart = { 0 };
    const struct bound_source source = { judging->evidence, siblings,
        judging->evidence->baseline == NULL ? NULL : &counterpart };
    struct judged cell = { .judging = judging, .source = &source, .unit = of };
    const uint32_t span = unit_cell_span(of);
    struct cell_place place;

    FAIL_IF(
        siblings == NULL, judging->err, NVBW_E_SYSTEM, "no memory to judge");
    TRY(gather(judging, of, siblings));
    TRY(find_counterpart(judging, of, &counterpart));
    cell.verdict = list;
    for (uint32_t number = 0; number < span; number++) {
        if (unit_cell_at(of, number, &place)) {
            begin(&cell, number, &place);
            judge_cell(&cell);
            cell.verdict++;
        }
    }
    return NVBW_OK;
}
