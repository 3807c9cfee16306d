/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "plan_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct plan_fixture fixture;

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

static void load_two(const char *base, const char *overlay)
{
    fixture_write("base.cfg", base);
    fixture_write("site.cfg", overlay);
    fixture_load(
        &fixture, (const char *const[]){ "base.cfg", "site.cfg", NULL }, NULL);
}

static void load_set(const char *set)
{
    static const char base[] =
        "suites = ( { plugin = \"ce_h2d\"; params = { copies = 4; }; },\n"
        "{ plugin = \"null\"; id = \"other\"; } );\n";

    fixture_write("base.cfg", base);
    fixture_load(&fixture, (const char *const[]){ "base.cfg", NULL },
        (const char *const[]){ set, NULL });
}

static void test_scalars_replace_lists_add(void **state)
{
    (void)state;
    load_two("name = \"a\"; defaults = { required = \"yes\"; copies = 1; };\n"
             "limits = ( { match = \"*\"; min = \"1 GB/s\"; } );\n"
             "suites = ( { plugin = \"x\"; tests = [ \"a\", \"b\" ];\n"
             "  params = { copies = 2; samples = 3; };\n"
             "  limits = ( { match = \"a\"; min = \"2 GB/s\"; } ); } );\n",
        "name = \"b\"; defaults = { confirm = 1; copies = 5; };\n"
        "limits = ( { match = \"*\"; min = \"3 GB/s\"; } );\n"
        "suites = ( { plugin = \"x\"; tests = [ \"c\" ]; enabled = false;\n"
        "  params = { copies = 7; };\n"
        "  limits = ( { match = \"a\"; min = \"4 GB/s\"; } ); },\n"
        "  { plugin = \"y\"; } );\n");
    assert_string_equal(fixture_problem(&fixture, 0), "");

    const struct plan *const plan = &fixture.plan;
    const struct plan_suite *const suite = &plan->suites[0];

    assert_string_equal(plan->name, "b");
    assert_string_equal(plan->defaults.required, "yes");
    assert_string_equal(plan->defaults.confirm, "1");
    assert_string_equal(plan->params[0].texts[0], "5");
    assert_int_equal(plan->limits_count, 2);
    assert_int_equal(plan->suites_count, 2);
    assert_int_equal(suite->enabled, 0);
    assert_int_equal(suite->tests_count, 1);
    assert_string_equal(suite->tests[0], "c");
    assert_int_equal(suite->params_count, 2);
    assert_string_equal(suite->params[0].texts[0], "7");
    assert_string_equal(suite->params[0].origin.file, "site.cfg");
    assert_string_equal(suite->origin.file, "base.cfg");
    assert_int_equal(suite->limits_count, 2);
    assert_true(suite->limits[1].rank > suite->limits[0].rank);
    assert_true(plan->limits[1].rank > suite->limits[0].rank);
}

static void test_ids(void **state)
{
    (void)state;
    load_two("suites = ( { plugin = \"x\"; id = \"one\"; },\n"
             "{ plugin = \"x\"; id = \"two\"; } );\n",
        "suites = ( { plugin = \"x\"; id = \"two\"; enabled = false; } );\n");
    assert_string_equal(fixture_problem(&fixture, 0), "");
    assert_int_equal(fixture.plan.suites_count, 2);
    assert_int_equal(fixture.plan.suites[0].enabled, 1);
    assert_int_equal(fixture.plan.suites[1].enabled, 0);
}

static void test_ambiguous(void **state)
{
    (void)state;
    load_two("suites = ( { plugin = \"x\"; id = \"one\"; },\n"
             "{ plugin = \"x\"; id = \"two\"; } );\n",
        "\nsuites = ( { plugin = \"x\"; enabled = false; } );\n");
    assert_string_equal(fixture_problem(&fixture, 0),
        "site.cfg:2: plugin \"x\" has 2 suites, say by id which one is meant");
    load_two("suites = ( { plugin = \"x\"; } );\n",
        "suites = ( { plugin = \"y\"; id = \"x\"; } );\n");
    assert_string_equal(fixture_problem(&fixture, 0),
        "site.cfg:1: another suite is named \"x\" already, give this one "
        "another id");
}

static void test_set(void **state)
{
    (void)state;
    load_set("suites.ce_h2d.enabled=false");
    assert_string_equal(fixture_problem(&fixture, 0), "");
    assert_int_equal(fixture.plan.suites[0].enabled, 0);
    load_set("suites.other.enabled=false");
    assert_int_equal(fixture.plan.suites[1].enabled, 0);
    load_set("suites.ce_h2d.params.buffer_size=\"64 MiB\"");
    assert_string_equal(fixture.plan.suites[0].params[1].texts[0], "64 MiB");
    load_set("suites.ce_h2d.params.copies=[1, 2]");
    assert_int_equal(fixture.plan.suites[0].params[0].texts_count, 2);
    load_set("suites.ce_h2d.params.mode=fixed");
    assert_string_equal(fixture.plan.suites[0].params[1].texts[0], "fixed");
    assert_string_equal(fixture.plan.suites[0].params[1].origin.file, "--set");
    assert_int_equal(fixture.plan.suites[0].params[1].origin.line, 1);
    load_set("budget=10m");
    assert_string_equal(plan_option(&fixture.plan, "budget")->texts[0], "10m");
    load_set("defaults.precision=1 %");
    assert_string_equal(fixture.plan.params[0].texts[0], "1 %");
    load_set("name=");
    assert_string_equal(fixture.plan.name, "");
}

/* A value cannot smuggle in settings, comments or includes. */
static void test_set_holds_one_value(void **state)
{
    static const char *const values[] = { "1; budget = 2", "\"a\"; x = 1",
        "1 # x", "@include \"/etc/passwd\"", "a\"b\\", "{ a = 1; }; b = 2",
        "\"open", "/* x */ 1; /*" };

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char set[128];

        snprintf(set, sizeof set, "name=%s", values[i]);
        load_set(set);
        assert_string_equal(fixture_problem(&fixture, 0), "");
        assert_string_equal(fixture.plan.name, values[i]);
        assert_int_equal(fixture.plan.options_count, 0);
    }
}

static void test_bad_sets(void **state)
{
    static const char *const cases[][2] = {
        { "suites.ce_h2x.enabled=false",
            "--set:1: the plan has no suite \"ce_h2x\", did you mean "
            "\"ce_h2d\"" },
        { "budgit=1", "--set:1: unknown key \"budgit\" in a plan, did you mean "
                      "\"budget\"" },
        { "suites.ce_h2d=1", "--set:1: name a suite and a key of it, like "
                             "suites.ce_h2d.enabled=false" },
        { "name", "--set:1: \"name\" has no \"=\", write path=value like "
                  "suites.ce_h2d.enabled=false" },
        { "a..b=1", "--set:1: \"\" is not a name, write path=value like "
                    "suites.ce_h2d.enabled=false" },
        { "a.b.c.d.e=1", "--set:1: the path has more than 4 names" },
        { "name=a\nb", "--set:1: the text has a control character" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        load_set(cases[i][0]);
        assert_string_equal(fixture_problem(&fixture, 0), cases[i][1]);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_scalars_replace_lists_add),
        TEST(test_ids),
        TEST(test_ambiguous),
        TEST(test_set),
        TEST(test_set_holds_one_value),
        TEST(test_bad_sets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
