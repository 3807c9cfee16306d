/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "attempts.h"

#include <math.h>
#include <stdlib.h>

#include "state.h"
#include "stats.h"

static int is_seen(const struct attempts *attempts, uint32_t attempt)
{
    for (uint32_t i = 0; i < attempts->count; i++) {
        if (attempts->records[i]->attempt == attempt) {
            return 1;
        }
    }
    return 0;
}

static void add_measured(struct attempts *out, const struct record *record)
{
    const double median =
        stats_quantile(record->samples, record->samples_count, 0.5);

    if (isnan(median) || out->count == ATTEMPTS_LIMIT ||
        is_seen(out, record->attempt)) {
        return;
    }
    out->records[out->count] = record;
    out->medians[out->count] = median;
    out->count++;
}

static int was_never_made(const struct record *record)
{
    return record->state == STATE_NOT_RUN || record->state == STATE_CANCELLED;
}

/* Records come newest first. */
static int counts_more(const struct record *record, const struct record *than)
{
    if (than == NULL) {
        return 1;
    }
    if (was_never_made(than) != was_never_made(record)) {
        return was_never_made(than);
    }
    return record->attempt > than->attempt;
}

void attempts_of_cell(const struct evidence *evidence, uint32_t unit,
    const char *metric, uint32_t row, uint32_t col, struct attempts *out)
{
    const struct record *const latest =
        evidence_latest(evidence, unit, metric, row, col);

    out->counting = NULL;
    out->count = 0;
    for (const struct record *record = latest; record != NULL;
         record = evidence_before(evidence, record)) {
        if (counts_more(record, out->counting)) {
            out->counting = record;
        }
    }
    for (const struct record *record = latest; record != NULL;
         record = evidence_before(evidence, record)) {
        if (record->state == STATE_MEASURED &&
            record->series == out->counting->series) {
            add_measured(out, record);
        }
    }
    out->figure = stats_quantile(out->medians, out->count, 0.5);
}

const struct record *attempts_typical(const struct attempts *attempts)
{
    const struct record *typical = attempts->counting;
    double nearest = INFINITY;

    for (uint32_t i = 0; i < attempts->count; i++) {
        const double gap = fabs(attempts->medians[i] - attempts->figure);

        if (gap < nearest) {
            nearest = gap;
            typical = attempts->records[i];
        }
    }
    return typical;
}

int attempts_are_enough(const char *pass_rule, uint32_t passed, uint32_t count)
{
    if (passed == count) {
        return count > 0;
    }
    if (pass_rule != NULL) {
        const unsigned long wanted = strtoul(pass_rule, NULL, 10);

        if (wanted > 0) {
            return passed >= wanted;
        }
    }
    return passed * 2 > count;
}
