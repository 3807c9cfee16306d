/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "trend.h"

#include <math.h>

#include "between_runs.h"
#include "counterpart.h"
#include "traffic_class.h"

/* ---- a line ---- */

struct line {
    double slope, error; /* of y by x, and its standard error */
    double at_first;
};

static struct line fit(const double *x, const double *y, uint32_t count)
{
    double mean_x = 0.0;
    double mean_y = 0.0;
    double xx = 0.0;
    double xy = 0.0;
    double rest = 0.0;

    for (uint32_t i = 0; i < count; i++) {
        mean_x += x[i] / count;
        mean_y += y[i] / count;
    }
    for (uint32_t i = 0; i < count; i++) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
    }

    const double slope = xy / xx;

    for (uint32_t i = 0; i < count; i++) {
        const double gap = y[i] - mean_y - slope * (x[i] - mean_x);

        rest += gap * gap;
    }
    return (struct line){ .slope = slope,
        .error = sqrt(rest / (count - 2) / xx),
        .at_first = mean_y + slope * (x[0] - mean_x) };
}

int trend_of(const double *x, const double *values, uint32_t count,
    uint32_t better, struct trend *out)
{
    if (count < TREND_ROUNDS_LEAST) {
        return 0;
    }

    const struct line line = fit(x, values, count);
    const double span = (x[count - 1] - x[0]) / line.at_first;
    const double gain = better == NVBW_LOWER ? -span : span;
    const double half = stats_student_99(count - 2) * line.error * span;

    out->rounds = count;
    out->first = line.at_first;
    out->change = line.slope * gain;
    out->low = out->change - half;
    out->high = out->change + half;
    return line.at_first > 0.0 && isfinite(out->change) && isfinite(half);
}

/* ---- all cells ---- */

struct rounds {
    const struct judging *judging;
    struct verdicts *out;
    const uint32_t *starts; /* each unit's first verdict */
    uint32_t units;         /* in one round */
    uint32_t count;         /* of rounds begun */
    double *x, *values;
};

static const uint32_t *starts_of(const struct judging *judging)
{
    const struct evidence *const evidence = judging->evidence;
    uint32_t *const starts = arena_alloc(
        judging->arena, (size_t)evidence->units_count + 1, sizeof *starts);
    uint32_t next = 0;

    for (uint32_t i = 0; starts != NULL && i < evidence->units_count; i++) {
        starts[i] = next;
        next += unit_cell_count(&evidence->units[i]);
    }
    return starts;
}

/* Every round has the units of the first, in their order. */
static const struct unit *unit_in_round(
    const struct rounds *rounds, const struct unit *first, uint32_t round)
{
    const struct evidence *const evidence = rounds->judging->evidence;
    const uint64_t at = (uint64_t)round * rounds->units + first->id;

    return at < evidence->units_count && evidence->units[at].round == round &&
                   counterpart_is_same_unit(&evidence->units[at], first) &&
                   unit_cell_count(&evidence->units[at]) ==
                       unit_cell_count(first)
               ? &evidence->units[at]
               : NULL;
}

static void add_reach(const struct rounds *rounds,
    const struct unit_shape *shape, struct trend *trend)
{
    struct traffic traffic;

    traffic_of_record(
        &rounds->judging->evidence->facts, trend->record, &traffic);
    trend->reach = between_runs_of(&traffic, shape->unit).reach;
    trend->is_fall = trend->high < 0.0 &&
                     trend->change < -fmax(TREND_FALL_LEAST, trend->reach);
}

static int32_t add(const struct rounds *rounds, const struct trend *trend)
{
    struct verdicts *const out = rounds->out;
    struct trend *const list = arena_append(
        rounds->judging->arena, out->trends, &out->trends_count, sizeof *list);

    FAIL_IF(list == NULL, rounds->judging->err, NVBW_E_SYSTEM,
        "no memory for the trends of cells");
    out->trends = list;
    list[out->trends_count - 1] = *trend;
    return NVBW_OK;
}

/* at: which of the unit's cells, diagonals not counted. */
static int32_t look_at_cell(const struct rounds *rounds,
    const struct unit *first, uint32_t at, const struct unit_shape *shape)
{
    struct trend trend = { .unit = first->id };
    uint32_t count = 0;

    for (uint32_t round = 0; round < rounds->count; round++) {
        const struct unit *const unit = unit_in_round(rounds, first, round);
        const struct verdict *const verdict =
            unit == NULL ? NULL
                         : &rounds->out->list[rounds->starts[unit->id] + at];

        if (verdict == NULL || isnan(verdict->figure) ||
            verdict->record == NULL) {
            continue;
        }
        trend.cell = verdict->cell;
        trend.record = verdict->record;
        rounds->x[count] = round;
        rounds->values[count++] = verdict->figure;
    }
    if (!trend_of(rounds->x, rounds->values, count, shape->better, &trend)) {
        return NVBW_OK;
    }
    add_reach(rounds, shape, &trend);
    return add(rounds, &trend);
}

static int32_t look_at_unit(
    const struct rounds *rounds, const struct unit *first)
{
    const uint32_t span = unit_cell_span(first);
    struct cell_place place = { 0 };
    uint32_t at = 0;

    for (uint32_t number = 0; number < span; number++) {
        if (!unit_cell_at(first, number, &place)) {
            continue;
        }
        if (!first->shapes[place.shape].derived) {
            TRY(look_at_cell(rounds, first, at, &first->shapes[place.shape]));
        }
        at++;
    }
    return NVBW_OK;
}

static uint32_t units_in_first(const struct evidence *evidence)
{
    uint32_t count = 0;

    while (count < evidence->units_count && evidence->units[count].round == 0) {
        count++;
    }
    return count;
}

int32_t trends_add(const struct judging *judging, struct verdicts *out)
{
    const struct evidence *const evidence = judging->evidence;
    struct rounds rounds = {
        .judging = judging, .out = out, .units = units_in_first(evidence)
    };

    if (rounds.units == 0 ||
        evidence->units_count / rounds.units < TREND_ROUNDS_LEAST) {
        return NVBW_OK;
    }
    rounds.count = (evidence->units_count - 1) / rounds.units + 1;
    rounds.starts = starts_of(judging);
    rounds.x = arena_alloc(judging->arena, rounds.count, sizeof *rounds.x);
    rounds.values =
        arena_alloc(judging->arena, rounds.count, sizeof *rounds.values);
    FAIL_IF(rounds.starts == NULL || rounds.x == NULL || rounds.values == NULL,
        judging->err, NVBW_E_SYSTEM, "no memory for the trends of cells");
    for (uint32_t i = 0; i < rounds.units; i++) {
        TRY(look_at_unit(&rounds, &evidence->units[i]));
    }
    return NVBW_OK;
}
