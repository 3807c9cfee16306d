/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cell_figure.h"

#include <math.h>
#include <string.h>

#include "attempts.h"
#include "state.h"
#include "stats.h"
#include "traffic_class.h"

/* The medians of attempts differ by what changes from attempt to attempt, which
 * the samples of one do not show. Not for a baseline of several runs: what its
 * attempts, one a run, differ by is `between`. */
static void widen(const struct attempts *attempts, struct cell_figure *out)
{
    for (uint32_t i = 0; i < attempts->count; i++) {
        out->low = fmin(out->low, attempts->medians[i]);
        out->high = fmax(out->high, attempts->medians[i]);
    }
}

static void add_spread(const struct attempts *attempts, struct cell_figure *out)
{
    double low = INFINITY;
    double high = -INFINITY;

    for (uint32_t i = 0; i < attempts->count; i++) {
        const struct record *const record = attempts->records[i];

        for (uint32_t k = 0; k < record->samples_count; k++) {
            low = fmin(low, record->samples[k]);
            high = fmax(high, record->samples[k]);
        }
    }
    out->spread = (high - low) / out->value;
}

/* By its own samples. 0: not measured. */
static int own_figure(const struct evidence *evidence, uint32_t unit,
    const char *metric, uint32_t row, uint32_t col, struct cell_figure *out)
{
    struct attempts attempts;
    struct stats stats;

    attempts_of_cell(evidence, unit, metric, row, col, &attempts);
    if (attempts.count == 0 || attempts.counting->state != STATE_MEASURED) {
        return 0;
    }

    const struct record *const typical = attempts_typical(&attempts);

    stats_of(typical->samples, typical->samples_count, &stats);
    *out = (struct cell_figure){ .value = attempts.figure,
        .low = isnan(stats.low) ? stats.min : stats.low,
        .high = isnan(stats.high) ? stats.max : stats.high,
        .spread = NAN,
        .between = NAN,
        .attempts = attempts.count,
        .samples = typical->samples_count,
        .record = typical };
    if (evidence->header.runs > 1) {
        out->between = between_runs_seen(attempts.medians, attempts.count);
    }
    if (typical->samples_count < FIGURE_SAMPLES_LEAST) {
        out->low = NAN;
        out->high = NAN;
        return 1;
    }
    if (evidence->header.runs <= 1) {
        widen(&attempts, out);
    }
    add_spread(&attempts, out);
    return 1;
}

/* ---- derived ---- */

static int is_same_axis(const char *one, const char *other)
{
    return one == other ||
           (one != NULL && other != NULL && strcmp(one, other) == 0);
}

static int may_come_of(
    const struct unit_shape *derived, const struct unit_shape *shape)
{
    return !shape->derived && shape->better == derived->better &&
           shape->rows == derived->rows && shape->cols == derived->cols &&
           is_same_axis(shape->row_axis, derived->row_axis) &&
           is_same_axis(shape->col_axis, derived->col_axis);
}

static double wider(double one, double other)
{
    return isnan(one) ? other : fmax(one, other);
}

/* The relative interval of what it comes of, the widest of several. */
static void scatter_as(
    const struct cell_figure *source, struct cell_figure *derived)
{
    const double below = 1.0 - source->low / source->value;
    const double above = source->high / source->value - 1.0;

    if (isnan(source->low)) {
        return;
    }
    derived->low = -wider(-derived->low, -derived->value * (1.0 - below));
    derived->high = wider(derived->high, derived->value * (1.0 + above));
    derived->spread = wider(derived->spread, source->spread);
}

static const struct unit_shape *shape_of(
    const struct unit *unit, const char *metric)
{
    for (uint32_t i = 0; metric != NULL && i < unit->shapes_count; i++) {
        if (strcmp(unit->shapes[i].metric, metric) == 0) {
            return &unit->shapes[i];
        }
    }
    return NULL;
}

static void take_scatter(const struct evidence *evidence, uint32_t id,
    const struct unit_shape *derived, uint32_t row, uint32_t col,
    struct cell_figure *out)
{
    const struct unit *const unit = &evidence->units[id];
    struct cell_figure source;

    for (uint32_t i = 0; i < unit->shapes_count; i++) {
        const struct unit_shape *const shape = &unit->shapes[i];

        if (may_come_of(derived, shape) &&
            own_figure(evidence, id, shape->metric, row, col, &source)) {
            scatter_as(&source, out);
        }
    }
}

int cell_figure_of(const struct evidence *evidence, uint32_t unit,
    const char *metric, uint32_t row, uint32_t col, struct cell_figure *out)
{
    if (!own_figure(evidence, unit, metric, row, col, out)) {
        return 0;
    }

    const struct unit_shape *const shape =
        unit < evidence->units_count ? shape_of(&evidence->units[unit], metric)
                                     : NULL;

    if (shape != NULL && shape->derived && isnan(out->low)) {
        take_scatter(evidence, unit, shape, row, col, out);
    }
    return 1;
}

/* ---- between runs ---- */

static struct between_runs between_by_table(const struct evidence *evidence,
    const struct record *record, uint32_t measure)
{
    struct traffic traffic;

    traffic_of_record(&evidence->facts, record, &traffic);
    return between_runs_of(&traffic, measure);
}

struct between_runs cell_between_runs(const struct evidence *evidence,
    const struct record *record, const struct unit_shape *shape)
{
    struct between_runs widest =
        between_by_table(evidence, record, shape->unit);

    if (!shape->derived || record->unit >= evidence->units_count) {
        return widest;
    }

    const struct unit *const unit = &evidence->units[record->unit];
    struct cell_figure source;

    for (uint32_t i = 0; i < unit->shapes_count; i++) {
        const struct unit_shape *const of = &unit->shapes[i];

        if (!may_come_of(shape, of) ||
            !own_figure(evidence, unit->id, of->metric, record->row,
                record->col, &source)) {
            continue;
        }

        const struct between_runs between =
            between_by_table(evidence, source.record, of->unit);

        if (between.reach > widest.reach) {
            widest = between;
        }
    }
    return widest;
}
