/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "unmatched.h"

#include <string.h>

#include "limit.h"

static int matches_record(const struct judging *judging,
    const struct plan_limit *limit, const struct verdict *verdict)
{
    if (verdict->record == NULL || verdict->attempts == 0) {
        return 1;
    }

    const char *const direction =
        traffic_direction(&judging->evidence->facts, verdict->record);

    return (limit->direction == NULL ||
               (direction != NULL &&
                   strcmp(direction, limit->direction) == 0)) &&
           (verdict->record->copy_bytes == 0 ||
               limit_matches_size(limit->size, verdict->record->copy_bytes));
}

static int matches_cell(const struct judging *judging,
    const struct plan_limit *limit, const struct verdict *verdict)
{
    const struct unit *const unit = &judging->evidence->units[verdict->unit];
    struct cell_place place = { 0 };
    int32_t devices[2] = { 0 };

    unit_cell_at(unit, verdict->cell, &place);

    const uint32_t count = cell_devices(&judging->evidence->facts, unit,
        &unit->shapes[place.shape], place.row, place.col, devices);

    return limit_matches_devices(limit->devices, devices, count) &&
           limit_matches_pair(limit->pair, devices, count) &&
           matches_record(judging, limit, verdict);
}

/* Names are compared once per metric of a unit, not once per cell: a matrix of
 * 576 GPUs has 331 200 cells and one name. */
static int matches_any(const struct judging *judging,
    const struct plan_limit *limit, int64_t suite, const struct verdicts *out)
{
    const struct verdict *before = NULL;
    int name_matches = 0;

    for (uint32_t i = 0; i < out->count; i++) {
        const struct verdict *const verdict = &out->list[i];
        const struct unit *const unit =
            &judging->evidence->units[verdict->unit];

        if (before == NULL || before->unit != verdict->unit ||
            before->metric != verdict->metric) {
            name_matches = (suite < 0 || unit->suite == suite) &&
                           limit_matches_name(
                               limit->match, unit->testcase, verdict->metric);
        }
        before = verdict;
        if (name_matches && matches_cell(judging, limit, verdict)) {
            return 1;
        }
    }
    return 0;
}

static int32_t add(const struct judging *judging, struct verdicts *out,
    const struct plan_limit *limit)
{
    const char **const list = arena_append(judging->arena,
        out->unmatched_limits, &out->unmatched_limits_count, sizeof *list);
    const char *const text = arena_format(judging->arena, "%s:%u: limit \"%s\"",
        limit->origin.file == NULL ? "default" : limit->origin.file,
        limit->origin.line, limit->match == NULL ? "*" : limit->match);

    FAIL_IF(list == NULL || text == NULL, judging->err, NVBW_E_SYSTEM,
        "no memory to judge");
    list[out->unmatched_limits_count - 1] = text;
    out->unmatched_limits = list;
    return NVBW_OK;
}

static int32_t add_list(const struct judging *judging, struct verdicts *out,
    const struct plan_limit *limits, uint32_t count, int64_t suite)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!matches_any(judging, &limits[i], suite, out)) {
            TRY(add(judging, out, &limits[i]));
        }
    }
    return NVBW_OK;
}

int32_t unmatched_add(const struct judging *judging, struct verdicts *out)
{
    const struct plan *const plan = &judging->evidence->plan;

    TRY(add_list(judging, out, plan->limits, plan->limits_count, -1));
    for (uint32_t i = 0; i < plan->suites_count; i++) {
        if (plan->suites[i].enabled) {
            TRY(add_list(judging, out, plan->suites[i].limits,
                plan->suites[i].limits_count, i));
        }
    }
    return NVBW_OK;
}
