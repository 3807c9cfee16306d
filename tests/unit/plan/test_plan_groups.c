/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "plan_fixture.h"
#include "sweep.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct plan_fixture fixture;

static struct param_schema params[] = {
    { .name = "flows", .type = NVBW_TYPE_GROUP, .flags = NVBW_PARAM_LIST },
    { .name = "flows.name",
        .type = NVBW_TYPE_TEXT,
        .flags = NVBW_PARAM_LIST | SCHEMA_PARAM_MEMBER },
    { .name = "flows.size",
        .type = NVBW_TYPE_SIZE,
        .flags = NVBW_PARAM_LIST | SCHEMA_PARAM_MEMBER,
        .default_text = "1, or so" },
    { .name = "copies_of", .type = NVBW_TYPE_INT, .default_text = "1" },
};
static struct testcase_schema testcase = { .name = "groups",
    .params = params,
    .params_count = sizeof params / sizeof params[0] };

static void load(const char *value)
{
    char text[512];

    snprintf(text, sizeof text,
        "suites = ( { plugin = \"p\"; params = {\n%s\n}; } );", value);
    fixture_load_text(&fixture, text);
}

/* The values of a parameter at the first point, joined by "|". */
static const char *values_of(const char *name)
{
    struct sweep sweep;
    struct unit unit = { 0 };
    const char *joined = "";
    struct error err = { 0 };

    assert_int_equal(sweep_build(&fixture.plan, &fixture.plan.suites[0],
                         &testcase, &fixture.arena, &sweep, &err),
        NVBW_OK);
    assert_int_equal(
        sweep_point(&sweep, 0, &fixture.arena, &unit, &err), NVBW_OK);

    const struct unit_param *const param = unit_param(&unit, name);

    assert_non_null(param);
    for (uint32_t i = 0; i < param->values_count; i++) {
        joined = arena_format(&fixture.arena, "%s%s%s", joined,
            i == 0 ? "" : "|", param->values[i]);
    }
    return joined;
}

/* A group's keys become lists side by side, a missing key its default, whole,
 * and the group itself the place where it stands. */
static void test_lists(void **state)
{
    (void)state;
    load("flows = ( { name = \"a\"; size = \"2 B\"; },\n"
         "  { name = 7; } );");
    assert_int_equal(fixture.problems.count, 0);
    assert_string_equal(values_of("flows"), "a.cfg:2|a.cfg:3");
    assert_string_equal(values_of("flows.name"), "a|7");
    assert_string_equal(values_of("flows.size"), "2 B|1, or so");
    assert_string_equal(values_of("copies_of"), "1");
}

static void test_none(void **state)
{
    (void)state;
    load("copies_of = [ 1, 2 ];");
    assert_string_equal(values_of("flows"), "");
    assert_string_equal(values_of("flows.name"), "");
}

/* Where each key and each group stands, for messages. */
static void test_origins(void **state)
{
    (void)state;
    load("flows = (\n{ name = \"a\";\nsize = \"2 B\"; } );");

    const struct plan_value *const value = &fixture.plan.suites[0].params[0];

    assert_int_equal(value->kind, PLAN_GROUPS);
    assert_int_equal(value->groups_count, 1);
    assert_int_equal(value->groups[0].origin.line, 3);
    assert_int_equal(
        plan_group_find(&value->groups[0], "size")->origin.line, 4);
    assert_null(plan_group_find(&value->groups[0], "siz"));
}

static void test_refused(void **state)
{
    static const char *const cases[][2] = {
        { "flows = ( { name = [ \"a\" ]; } );",
            "a.cfg:2: \"name\" must be one value" },
        { "flows = ( { name = \"a\"; }, 3 );",
            "a.cfg:2: \"flows\" must be a list of groups" },
        { "flows = ( 3, { name = \"a\"; } );",
            "a.cfg:2: \"flows\" must be a list of single values" },
        { "flows = { name = \"a\"; };",
            "a.cfg:2: \"flows\" must be a value or a list, not a group" },
        { "flows = ( );", "a.cfg:2: \"flows\" must be more than an empty" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        load(cases[i][0]);

        const char *const problem = fixture_problem(&fixture, 0);

        if (strncmp(problem, cases[i][1], strlen(cases[i][1])) != 0) {
            fail_msg("%s: %s", cases[i][0], problem);
        }
    }
}

/* Options of the plan are no parameters. */
static void test_options(void **state)
{
    (void)state;
    fixture_load_text(&fixture, "plugin_path = ( { a = 1; } );");
    assert_non_null(
        strstr(fixture_problem(&fixture, 0), "a list of single values"));
}

/* A plan with groups goes into the journal and comes back the same. */
static void test_round_trip(void **state)
{
    struct plan copy;
    struct error err = { 0 };

    (void)state;
    load("flows = ( { name = \"a\"; size = \"2 B\"; }, { name = \"b\"; } );");
    assert_int_equal(
        fields_copy(&plan_fields, &fixture.plan, &fixture.arena, &copy, &err),
        NVBW_OK);
    assert_true(fields_equal(&plan_fields, &fixture.plan, &copy));
    assert_string_equal(copy.suites[0].params[0].groups[1].pairs[0].text, "b");
}

static int begin(void **state)
{
    (void)state;
    fixture_begin(&fixture);
    return 0;
}

static int end(void **state)
{
    (void)state;
    fixture_end(&fixture);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_lists, begin, end),
        cmocka_unit_test_setup_teardown(test_none, begin, end),
        cmocka_unit_test_setup_teardown(test_origins, begin, end),
        cmocka_unit_test_setup_teardown(test_refused, begin, end),
        cmocka_unit_test_setup_teardown(test_options, begin, end),
        cmocka_unit_test_setup_teardown(test_round_trip, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
