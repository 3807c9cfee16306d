/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cell_figure.h"

#include <math.h>

#include "attempts.h"
#include "state.h"
#include "stats.h"

/* The medians of attempts differ by what changes from attempt to attempt,
 * which the samples of one do not show. */
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

int cell_figure_of(const struct evidence *evidence, uint32_t unit,
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
        .attempts = attempts.count,
        .samples = typical->samples_count };
    if (typical->samples_count < FIGURE_SAMPLES_LEAST) {
        out->low = NAN;
        out->high = NAN;
        return 1;
    }
    widen(&attempts, out);
    add_spread(&attempts, out);
    return 1;
}
