/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "unmatched.h"

#include <string.h>

#include "limit.h"
#include "select.h"

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

static int matches_testcase(
    const struct plan_limit *limit, const struct testcase_schema *testcase)
{
    for (uint32_t i = 0; i < testcase->metrics_count; i++) {
        if (limit_matches_name(
                limit->match, testcase->name, testcase->metrics[i].name)) {
            return 1;
        }
    }
    return 0;
}

static int is_of_left_out(const struct judging *judging,
    const struct plan_limit *limit, const struct plan_suite *suite)
{
    const struct evidence *const evidence = judging->evidence;
    const struct plugin_schema *const plugin =
        select_plugin(suite, evidence->plugins, evidence->plugins_count);

    for (uint32_t i = 0; plugin != NULL && i < plugin->testcases_count; i++) {
        const struct testcase_schema *const testcase = &plugin->testcases[i];

        if (select_in_suite(suite, testcase->name) &&
            !select_runs(&evidence->plan, suite, testcase) &&
            matches_testcase(limit, testcase)) {
            return 1;
        }
    }
    return 0;
}

/* suite: the limit's, or less than 0. */
static int matches_left_out(const struct judging *judging,
    const struct plan_limit *limit, int64_t suite)
{
    const struct plan *const plan = &judging->evidence->plan;

    for (uint32_t i = 0; i < plan->suites_count; i++) {
        if ((suite < 0 || suite == i) && plan->suites[i].enabled &&
            is_of_left_out(judging, limit, &plan->suites[i])) {
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
        if (!matches_any(judging, &limits[i], suite, out) &&
            !matches_left_out(judging, &limits[i], suite)) {
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
