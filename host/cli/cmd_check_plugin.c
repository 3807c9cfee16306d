/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cmd.h"

#include <stdio.h>
#include <string.h>

#include "check_torture.h"
#include "judge.h"
#include "prepare.h"
#include "rehearsal_facts.h"
#include "state.h"

/* A check of one plugin in progress. */
struct check {
    struct prepared *prepared;
    const struct plugin_schema *plugin;
    uint32_t faults;
    struct error *err;
};

static void fault(struct check *check, const char *rule, const char *testcase,
    const char *text)
{
    check->faults++;
    printf("%s: %s%s%s (rule %s)\n", check->plugin->name,
        testcase == NULL ? "" : testcase, testcase == NULL ? "" : ": ", text,
        rule);
}

/* One suite that runs all testcases of the plugin with their defaults. */
static struct plan whole_plugin(
    const struct plugin_schema *plugin, struct plan_suite *suite)
{
    *suite = (struct plan_suite){ .plugin = plugin->name, .enabled = 1 };
    return (struct plan){
        .name = "check-plugin", .suites = suite, .suites_count = 1
    };
}

static int is_recorded(const struct recording *recording,
    const struct unit_shape *shape, const struct cell_place *place)
{
    for (uint32_t i = 0; i < recording->records_count; i++) {
        const struct record *const record = &recording->records[i];

        if (record->row == place->row && record->col == place->col &&
            strcmp(record->metric, shape->metric) == 0) {
            return 1;
        }
    }
    return 0;
}

/* C11: every cell that the metrics announce is settled by run(). */
static void check_cells(struct check *check, const struct unit *unit,
    const struct recording *recording)
{
    for (uint32_t i = 0; i < unit_cell_span(unit); i++) {
        struct cell_place place;

        if (!unit_cell_at(unit, i, &place)) {
            continue;
        }

        const struct unit_shape *const shape = &unit->shapes[place.shape];

        if (!is_recorded(recording, shape, &place)) {
            char text[256];

            snprintf(text, sizeof text,
                "run() leaves cell %s [%u,%u] unsettled", shape->metric,
                place.row, place.col);
            fault(check, "C11", unit->testcase, text);
            return;
        }
    }
}

/* C27, on a unit whose axes are as they were when it was recorded. */
static int32_t check_failures(
    struct check *check, const struct unit *unit, uint32_t calls)
{
    struct prepared *const prepared = check->prepared;
    const char *text = NULL;

    TRY(check_torture(&prepared->setup, &prepared->facts, unit, calls,
        prepared->arena, &text, check->err));
    if (text != NULL) {
        fault(check, "C27", unit->testcase, text);
    }
    return NVBW_OK;
}

static int32_t check_unit(struct check *check, struct unit *unit)
{
    struct prepared *const prepared = check->prepared;
    struct recording recording = { 0 };

    if (unit->state != STATE_NONE && unit->state != STATE_SKIP) {
        fault(check, "C2", unit->testcase, unit->message);
        return NVBW_OK;
    }
    if (unit->state == STATE_SKIP) {
        printf("%s: %s cannot be tried here: %s\n", check->plugin->name,
            unit->testcase, unit->message);
        return NVBW_OK;
    }
    TRY(workers_record(&prepared->setup, &prepared->facts, unit,
        prepared->arena, &recording, check->err));
    if (recording.status < 0 && recording.status != NVBW_E_SKIPPED) {
        fault(check, "C14", unit->testcase,
            recording.message == NULL ? "the recorded run failed"
                                      : recording.message);
        return NVBW_OK;
    }
    TRY(check_failures(check, unit, recording.calls));
    if (unit->open_axes) {
        TRY(schedule_close_axes(&prepared->schedule, unit->id, recording.labels,
            recording.labels_count, prepared->arena, check->err));
    }
    if (recording.status == NVBW_OK) {
        check_cells(check, unit, &recording);
    }
    return NVBW_OK;
}

static void check_descriptors(struct check *check)
{
    for (uint32_t i = 0; i < check->plugin->testcases_count; i++) {
        const struct testcase_schema *const testcase =
            &check->plugin->testcases[i];

        if (testcase->problem != NULL) {
            fault(check, "C2", testcase->name, testcase->problem);
        }
    }
    if (check->plugin->testcases_count == 0) {
        fault(check, "C2", NULL, "the plugin has no testcases");
    }
}

/* The suites of -c that are of the plugin, whose parameters may have no use
 * without a plan. */
static int32_t own_suites(struct check *check)
{
    struct prepared *const prepared = check->prepared;
    struct plan *const plan = &prepared->plan;
    uint32_t kept = 0;

    TRY(prepare_plan(prepared, check->err));
    for (uint32_t i = 0; i < plan->suites_count; i++) {
        if (strcmp(plan->suites[i].plugin, check->plugin->name) == 0) {
            plan->suites[kept++] = plan->suites[i];
        }
    }
    plan->suites_count = kept;
    FAIL_IF(kept == 0, check->err, NVBW_E_INVALID,
        "the plan has no suite of plugin %s", check->plugin->name);
    return prepare_check(prepared, check->err);
}

static int32_t check_plugin(struct check *check)
{
    struct prepared *const prepared = check->prepared;
    struct plan_suite suite;

    check_descriptors(check);
    if (prepared->options->plans.count > 0) {
        TRY(own_suites(check));
    } else {
        prepared->plan = whole_plugin(check->plugin, &suite);
    }
    TRY(prepare_facts(prepared, check->err));
    TRY(rehearsal_facts(prepared->arena, &prepared->facts, check->err));
    TRY(prepare_schedule(prepared, check->err));
    for (uint32_t i = 0; i < prepared->schedule.units_count; i++) {
        TRY(check_unit(check, &prepared->schedule.units[i]));
    }
    return NVBW_OK;
}

static int32_t describe(
    struct prepared *prepared, const char *file, struct error *err)
{
    const struct discover_request request = {
        .trust_all = (uint32_t)prepared->options->trust_plugins,
        .host_file = prepared->parts.host,
    };
    struct candidate candidate = { 0 };
    const struct candidates one = { .list = &candidate, .count = 1 };

    TRY(discover_file(&request, file, prepared->arena, &candidate, err));
    return workers_describe(&prepared->setup, &one, prepared->arena,
        &prepared->plugins, &prepared->plugins_count, &prepared->problems, err);
}

static int run(const struct options *options, struct arena *arena)
{
    struct prepared prepared;
    struct error err = { 0 };

    if (options->args.count != 1) {
        error_set(&err, NVBW_E_INVALID, "check-plugin needs one file");
        return command_fail(&err, EXIT_USAGE);
    }
    if (prepare_parts(options, arena, &prepared, &err) < 0 ||
        describe(&prepared, options->args.texts[0], &err) < 0) {
        return command_fail(&err, EXIT_USAGE);
    }

    struct check check = {
        .prepared = &prepared, .plugin = &prepared.plugins[0], .err = &err
    };

    if (check.plugin->state != STATE_NONE) {
        printf("%s: %s\n", check.plugin->name, check.plugin->message);
        return EXIT_CONTRACT;
    }
    if (check_plugin(&check) < 0) {
        return command_fail(&err, EXIT_CONTRACT);
    }
    if (check.faults == 0) {
        printf("%s %s: %u testcases keep the contract\n", check.plugin->name,
            check.plugin->version == NULL ? "" : check.plugin->version,
            check.plugin->testcases_count);
    }
    return check.faults == 0 ? EXIT_PASSED : EXIT_CONTRACT;
}

const struct command command_check_plugin = {
    .name = "check-plugin",
    .usage = "FILE.so [-c PLAN]",
    .summary = "checks that a plugin keeps the plugin contract",
    .most_words = 1,
    .run = run,
};
