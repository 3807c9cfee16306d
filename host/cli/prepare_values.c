/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What testcases themselves say of the values that a plan gives their
 * parameters: each that has a check() is asked at every point of its sweep. */
#include <string.h>

#include "prepare.h"
#include "select.h"
#include "state.h"
#include "sweep.h"

/* So that a large sweep is not one list of workers. */
enum { UNITS_AT_ONCE = 64 };

/* A testcase of a suite. */
struct asked {
    const struct plan_suite *suite;
    const struct plugin_schema *plugin;
    const struct testcase_schema *testcase;
};

/* Where the plan has the element that is refused. "flows.from" stands in a
 * group, in which the key may be absent. */
static struct origin find_origin(const struct prepared *prepared,
    const struct plan_suite *suite, const struct refused_frame *refused)
{
    const size_t length = strcspn(refused->param, ".");
    const char *const name =
        arena_text_n(prepared->arena, refused->param, length);
    const struct plan_value *const value =
        name == NULL ? NULL : select_value(&prepared->plan, suite, name);

    if (value == NULL) {
        return suite->origin;
    }
    if (refused->element >= value->groups_count) {
        return value->origin;
    }

    const struct plan_group *const group = &value->groups[refused->element];
    const char *const dot = &refused->param[length];
    const struct plan_pair *const pair =
        *dot == '\0' ? NULL : plan_group_find(group, dot + 1);

    return pair != NULL ? pair->origin : group->origin;
}

/* Points of a sweep tend to have the same mistakes. */
static int is_known(
    const struct problems *problems, struct origin origin, const char *text)
{
    for (uint32_t i = 0; i < problems->count; i++) {
        const struct problem *const problem = &problems->list[i];

        if (problem->origin.line == origin.line &&
            problem->origin.file == origin.file &&
            strcmp(problem->text, text) == 0) {
            return 1;
        }
    }
    return 0;
}

static void add_problem(
    struct prepared *prepared, struct origin origin, const char *text)
{
    if (!is_known(&prepared->problems, origin, text)) {
        problem_add(&prepared->problems, origin, 0, "%s", text);
    }
}

static void add_answer(struct prepared *prepared, const struct asked *asked,
    const struct check_answer *answer)
{
    for (uint32_t i = 0; i < answer->refused_count; i++) {
        const struct refused_frame *const refused = &answer->refused[i];

        add_problem(prepared, find_origin(prepared, asked->suite, refused),
            refused->text);
    }
    if (answer->trouble != NULL) {
        const char *const text = arena_format(prepared->arena,
            "suite \"%s\": testcase %s could not check its parameters: %s",
            suite_name(asked->suite), asked->testcase->name, answer->trouble);

        add_problem(prepared, asked->suite->origin,
            text == NULL ? answer->trouble : text);
    }
}

static int32_t ask_points(struct prepared *prepared, const struct asked *asked,
    const struct sweep *sweep, uint32_t first, uint32_t count,
    struct error *err)
{
    struct unit units[UNITS_AT_ONCE];
    struct check_answer answers[UNITS_AT_ONCE] = { 0 };

    for (uint32_t i = 0; i < count; i++) {
        units[i] = (struct unit){ .plugin = asked->plugin->name,
            .plugin_file = asked->plugin->file,
            .testcase = asked->testcase->name };
        TRY(sweep_point(sweep, first + i, prepared->arena, &units[i], err));
    }
    TRY(workers_check(
        &prepared->setup, units, count, prepared->arena, answers, err));
    for (uint32_t i = 0; i < count; i++) {
        add_answer(prepared, asked, &answers[i]);
    }
    return NVBW_OK;
}

static int32_t ask_testcase(
    struct prepared *prepared, const struct asked *asked, struct error *err)
{
    struct sweep sweep;

    TRY(sweep_build(&prepared->plan, asked->suite, asked->testcase,
        prepared->arena, &sweep, err));
    for (uint32_t first = 0; first < sweep.points; first += UNITS_AT_ONCE) {
        const uint32_t rest = sweep.points - first;

        TRY(ask_points(prepared, asked, &sweep, first,
            rest < UNITS_AT_ONCE ? rest : UNITS_AT_ONCE, err));
    }
    return NVBW_OK;
}

static int32_t ask_suite(struct prepared *prepared,
    const struct plan_suite *suite, struct error *err)
{
    const struct plugin_schema *const plugin =
        select_plugin(suite, prepared->plugins, prepared->plugins_count);

    if (plugin == NULL || plugin->state != STATE_NONE) {
        return NVBW_OK;
    }
    for (uint32_t i = 0; i < plugin->testcases_count; i++) {
        const struct asked asked = { suite, plugin, &plugin->testcases[i] };

        if (asked.testcase->has_check && asked.testcase->problem == NULL &&
            select_runs(&prepared->plan, suite, asked.testcase)) {
            TRY(ask_testcase(prepared, &asked, err));
        }
    }
    return NVBW_OK;
}

int32_t prepare_values(struct prepared *prepared, struct error *err)
{
    for (uint32_t i = 0; i < prepared->plan.suites_count; i++) {
        TRY(ask_suite(prepared, &prepared->plan.suites[i], err));
    }
    return NVBW_OK;
}
