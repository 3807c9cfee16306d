/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "plan.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "nearest.h"
#include "plan_check_parts.h"
#include "select.h"
#include "state.h"

static struct origin origin_of_plan(const struct plan *plan)
{
    return (struct origin){ plan->files_count == 0 ? NULL : plan->files[0], 0 };
}

/* ---- Suites ------------------------------------------------------------- */

static void refuse_plugin(
    const struct plan_checker *checker, const struct plan_suite *suite)
{
    char hint[NEAREST_HINT_BYTES];
    struct nearest nearest;

    nearest_begin(&nearest, suite->plugin);
    for (uint32_t i = 0; i < checker->plugins_count; i++) {
        nearest_offer(&nearest, checker->plugins[i].name);
    }
    problem_add(checker->problems, suite->origin, 0,
        "unknown plugin \"%s\"%s; nvbw-host list shows what is there",
        suite->plugin, nearest_hint(&nearest, hint));
}

static int glob_matches_any(
    const char *glob, const struct plugin_schema *plugin)
{
    const char *globs[] = { glob };
    const struct plan_suite one = { .tests = globs, .tests_count = 1 };

    for (uint32_t i = 0; i < plugin->testcases_count; i++) {
        if (select_in_suite(&one, plugin->testcases[i].name)) {
            return 1;
        }
    }
    return 0;
}

static void check_tests(const struct plan_checker *checker,
    const struct plan_suite *suite, const struct plugin_schema *plugin)
{
    for (uint32_t i = 0; i < suite->tests_count; i++) {
        char hint[NEAREST_HINT_BYTES];
        struct nearest nearest;

        if (glob_matches_any(suite->tests[i], plugin)) {
            continue;
        }
        nearest_begin(&nearest, suite->tests[i]);
        for (uint32_t k = 0; k < plugin->testcases_count; k++) {
            nearest_offer(&nearest, plugin->testcases[k].name);
        }
        problem_add(checker->problems, suite->origin, 0,
            "suite \"%s\": no testcase of plugin \"%s\" matches \"%s\"%s",
            suite_name(suite), suite->plugin, suite->tests[i],
            nearest_hint(&nearest, hint));
    }
}

/* A pinned file that describes another plugin than the suite names must not
 * be replaced by one that happens to have the name. */
static int is_file(const char *given, const char *real_path)
{
    char *const real = realpath(given, NULL);
    const int is_same =
        real != NULL && real_path != NULL && strcmp(real, real_path) == 0;

    free(real);
    return is_same;
}

static void check_pin(const struct plan_checker *checker,
    const struct plan_suite *suite, const struct plugin_schema *plugin)
{
    if (suite->file != NULL && !is_file(suite->file, plugin->file)) {
        problem_add(checker->problems, suite->origin, 0,
            "suite \"%s\": the file \"%s\" is not plugin \"%s\", which is "
            "\"%s\"",
            suite_name(suite), suite->file, suite->plugin,
            plugin->file == NULL ? "" : plugin->file);
    }
    if (suite->sha256 != NULL && plugin->sha256 != NULL &&
        strcasecmp(suite->sha256, plugin->sha256) != 0) {
        problem_add(checker->problems, suite->origin, 0,
            "suite \"%s\": plugin \"%s\" has the sha256 %s, the plan wants %s",
            suite_name(suite), plugin->file, plugin->sha256, suite->sha256);
    }
}

static void check_mpi(const struct plan_checker *checker,
    const struct plan_suite *suite, const struct plugin_schema *plugin)
{
    if (!select_flag(checker->plan, "mpi")) {
        return;
    }
    for (uint32_t i = 0; i < plugin->testcases_count; i++) {
        const struct testcase_schema *const testcase = &plugin->testcases[i];

        if (select_in_suite(suite, testcase->name) &&
            (testcase->need_features & NVBW_NEED_MPI) == 0) {
            problem_add(checker->problems, suite->origin, 0,
                "suite \"%s\": in MPI mode only suites that need MPI may be "
                "enabled, \"%s\" does not; write enabled = false",
                suite_name(suite), testcase->name);
            return;
        }
    }
}

static void check_suite(
    const struct plan_checker *checker, const struct plan_suite *suite)
{
    const struct plugin_schema *const plugin =
        select_plugin(suite, checker->plugins, checker->plugins_count);

    if (plugin == NULL) {
        if (suite->enabled) {
            refuse_plugin(checker, suite);
        }
        return;
    }
    if (plugin->state != STATE_NONE && plugin->file == NULL) {
        /* It stands in for a plugin of a testcase that nvbandwidth's flags
         * name and nobody offers. */
        problem_add(checker->problems, suite->origin, 1, "%s",
            plugin->message == NULL ? plugin->reason : plugin->message);
        return;
    }
    if (plugin->state != STATE_NONE) {
        if (suite->enabled) {
            problem_add(checker->problems, suite->origin, 1,
                "plugin \"%s\" cannot be used, so the names and values of its "
                "suite stay unchecked: %s",
                suite->plugin,
                plugin->message == NULL ? plugin->reason : plugin->message);
        }
        return;
    }
    check_pin(checker, suite, plugin);
    check_tests(checker, suite, plugin);
    check_params(checker, suite, plugin);
    check_limits(checker, suite);
    if (suite->enabled) {
        check_mpi(checker, suite, plugin);
    }
}

/* ---- What the command line chose ---------------------------------------- */

/* 1 if a testcase that runs answers to the one -t or --tags word left in
 * plan. */
static int any_runs(const struct plan_checker *checker, const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->suites_count; i++) {
        const struct plugin_schema *const plugin = select_plugin(
            &plan->suites[i], checker->plugins, checker->plugins_count);

        for (uint32_t k = 0; plugin != NULL && k < plugin->testcases_count;
             k++) {
            if (select_runs(plan, &plan->suites[i], &plugin->testcases[k])) {
                return 1;
            }
        }
    }
    return 0;
}

static void offer_testcases(
    const struct plan_checker *checker, struct nearest *nearest)
{
    for (uint32_t i = 0; i < checker->plugins_count; i++) {
        for (uint32_t k = 0; k < checker->plugins[i].testcases_count; k++) {
            nearest_offer(nearest, checker->plugins[i].testcases[k].name);
        }
    }
}

static void check_only(const struct plan_checker *checker)
{
    for (uint32_t i = 0; i < checker->plan->only_count; i++) {
        char hint[NEAREST_HINT_BYTES];
        struct nearest nearest;
        struct plan plan = *checker->plan;

        plan.only = &checker->plan->only[i];
        plan.only_count = 1;
        plan.tags_count = 0;
        if (any_runs(checker, &plan)) {
            continue;
        }
        nearest_begin(&nearest, plan.only[0]);
        offer_testcases(checker, &nearest);
        problem_add(checker->problems, (struct origin){ "-t", 0 }, 0,
            "the plan has no testcase \"%s\"%s", plan.only[0],
            nearest_hint(&nearest, hint));
    }
}

static void offer_tags(
    const struct plan_checker *checker, struct nearest *nearest)
{
    for (uint32_t i = 0; i < checker->plan->suites_count; i++) {
        const struct plan_suite *const suite = &checker->plan->suites[i];

        for (uint32_t k = 0; k < suite->tags_count; k++) {
            nearest_offer(nearest, suite->tags[k]);
        }
    }
    for (uint32_t i = 0; i < checker->plugins_count; i++) {
        for (uint32_t k = 0; k < checker->plugins[i].testcases_count; k++) {
            const struct testcase_schema *const testcase =
                &checker->plugins[i].testcases[k];

            for (uint32_t n = 0; n < testcase->tags_count; n++) {
                nearest_offer(nearest, testcase->tags[n]);
            }
        }
    }
}

static void check_tags(const struct plan_checker *checker)
{
    for (uint32_t i = 0; i < checker->plan->tags_count; i++) {
        char hint[NEAREST_HINT_BYTES];
        struct nearest nearest;
        struct plan plan = *checker->plan;

        plan.tags = &checker->plan->tags[i];
        plan.tags_count = 1;
        plan.only_count = 0;
        if (any_runs(checker, &plan)) {
            continue;
        }
        nearest_begin(&nearest, plan.tags[0]);
        offer_tags(checker, &nearest);
        problem_add(checker->problems, (struct origin){ "--tags", 0 }, 0,
            "the plan has no testcase with tag \"%s\"%s", plan.tags[0],
            nearest_hint(&nearest, hint));
    }
}

/* ---- The whole ---------------------------------------------------------- */

static void check_anything_enabled(const struct plan_checker *checker)
{
    for (uint32_t i = 0; i < checker->plan->suites_count; i++) {
        if (checker->plan->suites[i].enabled) {
            return;
        }
    }
    problem_add(checker->problems, origin_of_plan(checker->plan), 0,
        "the plan enables no suite, so there is nothing to run");
}

void plan_check(const struct plan *plan, const struct plugin_schema *plugins,
    uint32_t plugins_count, struct problems *problems)
{
    const struct plan_checker checker = { plan, plugins, plugins_count,
        problems };

    const int is_whole = problems->errors == 0;

    check_defaults(&checker);
    check_limits(&checker, NULL);
    for (uint32_t i = 0; i < plan->suites_count; i++) {
        check_suite(&checker, &plan->suites[i]);
    }
    if (is_whole) { /* else what is missed here may only be unread */
        check_anything_enabled(&checker);
        check_only(&checker);
        check_tags(&checker);
    }
}
