/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "plan_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static void assert_no_problem(void)
{
    assert_string_equal(fixture_problem(&fixture, 0), "");
}

/* The first problem, and the only one. */
static void assert_problem(const char *text)
{
    assert_string_equal(fixture_problem(&fixture, 0), text);
    assert_int_equal(fixture.problems.count, 1);
    assert_int_equal(fixture.problems.errors, 1);
}

static const char whole_plan[] =
    "name = \"acceptance\";\n"
    "expect = { gpus = 8; model = \"H200\"; };\n"
    "defaults = { precision = \"0.5 %\"; max_samples = 15; verify = true;\n"
    "  required = \"yes\"; confirm = 2; };\n"
    "limits = ( { match = \"*\"; min = \"95 % of expected\"; } );\n"
    "suites = (\n"
    "  { plugin = \"ce_h2d\"; tests = [ \"*\" ]; limits = (\n"
    "    { match = \"x\"; devices = \"0-3\"; min = \"50 GB/s\"; } ); },\n"
    "  { plugin = \"sm_d2d\"; enabled = false; },\n"
    "  { plugin = \"acme\"; params = { lanes = 16; load = 0.25;\n"
    "      sizes = [ \"1 MiB\", \"2 MiB\" ]; }; }\n"
    ");\n"
    "budget = \"10m\"; mpi = false;\n";

static void test_whole(void **state)
{
    (void)state;
    fixture_load_text(&fixture, whole_plan);
    assert_no_problem();

    const struct plan *const plan = &fixture.plan;

    assert_string_equal(plan->name, "acceptance");
    assert_int_equal(plan->expect_count, 2);
    assert_string_equal(plan->expect[0].texts[0], "8");
    assert_int_equal(plan->params_count, 3);
    assert_string_equal(plan->params[2].texts[0], "true");
    assert_int_equal(plan->params[2].kind, PLAN_BOOL);
    assert_string_equal(plan->defaults.confirm, "2");
    assert_int_equal(plan->suites_count, 3);
    assert_int_equal(plan->suites[0].enabled, 1);
    assert_int_equal(plan->suites[1].enabled, 0);
    assert_int_equal(plan->suites[0].limits[0].rank, 1);
    assert_int_equal(plan->suites[0].limits[0].origin.line, 8);
    assert_string_equal(plan->suites[2].params[1].texts[0], "0.25");
    assert_int_equal(plan->suites[2].params[2].is_list, 1);
    assert_int_equal(plan->suites[2].params[2].texts_count, 2);
    assert_int_equal(plan->suites[2].params[2].origin.line, 11);
    assert_string_equal(plan_option(plan, "budget")->texts[0], "10m");
    assert_null(plan_option(plan, "baseline"));
    assert_int_equal(strlen(plan->sha256), 64);
    assert_string_equal(plan->files[0], "a.cfg");
}

static void test_plan_survives_frames(void **state)
{
    struct plan copy;
    struct error err = { 0 };

    (void)state;
    fixture_load_text(&fixture, whole_plan);
    assert_int_equal(
        fields_copy(&plan_fields, &fixture.plan, &fixture.arena, &copy, &err),
        NVBW_OK);
    assert_true(fields_equal(&plan_fields, &fixture.plan, &copy));
}

static void test_include(void **state)
{
    (void)state;
    assert_int_equal(mkdir("sub", 0700), 0);
    fixture_write(
        "sub/suites.cfg", "suites = (\n{ plugin = \"x\"; bad = 1; }\n);");
    fixture_write("sub/a.cfg",
        "# comment @include \"nowhere\"\n"
        "/* two\n lines */ @include \"suites.cfg\" // after\n"
        "nome = \"n\";\n");
    fixture_load(&fixture, (const char *const[]){ "sub/a.cfg", NULL }, NULL);
    assert_string_equal(fixture_problem(&fixture, 0),
        "sub/suites.cfg:2: unknown key \"bad\" in a suite");
    assert_string_equal(fixture_problem(&fixture, 1),
        "sub/a.cfg:4: unknown key \"nome\" in a plan, did you mean \"name\"");
    assert_int_equal(fixture.plan.files_count, 2);
    assert_string_equal(fixture.plan.files[1], "sub/suites.cfg");
}

static void test_include_in_text_is_text(void **state)
{
    (void)state;
    fixture_load_text(&fixture, "name = \"@include \\\"x\\\" # // /*\";\n");
    assert_no_problem();
    assert_string_equal(fixture.plan.name, "@include \"x\" # // /*");
}

static void test_loop(void **state)
{
    (void)state;
    assert_int_equal(symlink("a.cfg", "c.cfg"), 0);
    fixture_write("b.cfg", "\n@include \"c.cfg\"\n");
    fixture_load_text(&fixture, "@include \"b.cfg\"\n");
    assert_problem("b.cfg:2: the include of \"c.cfg\" goes round in a circle: "
                   "a.cfg includes b.cfg includes c.cfg");
}

static void test_include_depth(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        char name[32];
        char text[64];

        snprintf(name, sizeof name, "f%d.cfg", i);
        snprintf(text, sizeof text, "@include \"f%d.cfg\"\n", i + 1);
        fixture_write(name, text);
    }
    fixture_load(&fixture, (const char *const[]){ "f0.cfg", NULL }, NULL);
    assert_problem("f10.cfg:1: includes are nested more than 10 deep");
}

static void test_not_regular(void **state)
{
    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    fixture_load_text(&fixture, "@include \"pipe\"\n");
    assert_problem(
        "a.cfg:1: the included file \"pipe\" is a pipe, only regular "
        "files are read");
    fixture_load(&fixture, (const char *const[]){ "pipe", NULL }, NULL);
    assert_problem("pipe:0: is a pipe, only regular files are read");
    fixture_load(&fixture, (const char *const[]){ "/dev/zero", NULL }, NULL);
    assert_problem("/dev/zero:0: is a device, only regular files are read");
}

static void test_missing(void **state)
{
    (void)state;
    fixture_load(&fixture, (const char *const[]){ "no.cfg", NULL }, NULL);
    assert_problem("no.cfg:0: cannot be opened: No such file or directory");
}

static void test_large(void **state)
{
    (void)state;
    fixture_write("a.cfg", "name = \"x\";\n");
    assert_int_equal(truncate("a.cfg", 10 << 20), 0);
    fixture_load(&fixture, (const char *const[]){ "a.cfg", NULL }, NULL);
    assert_problem("a.cfg:0: has 10485760 bytes, a plan has at most 1048576");
}

static void test_binary(void **state)
{
    (void)state;
    fixture_write("a.cfg", "name = \"x\";\n");
    assert_int_equal(truncate("a.cfg", 40), 0);
    fixture_load(&fixture, (const char *const[]){ "a.cfg", NULL }, NULL);
    assert_problem("a.cfg:0: is not a text file: byte 12 is 0");
}

/* Text that includes itself many times over stays bounded. */
static void test_include_bomb(void **state)
{
    (void)state;
    fixture_write("b.cfg", "@include \"c.cfg\"\n@include \"c.cfg\"\n");
    for (char name[] = "c.cfg"; name[0] < 'k'; name[0]++) {
        char text[128];

        snprintf(text, sizeof text,
            "@include \"%c.cfg\"\n@include \"%c.cfg\"\n", name[0] + 1,
            name[0] + 1);
        fixture_write(name, text);
    }
    fixture_write("k.cfg", "\n");
    fixture_load_text(&fixture, "@include \"b.cfg\"\n");
    assert_int_equal(fixture.problems.errors, 1);
    assert_non_null(
        strstr(fixture_problem(&fixture, 0), "more than 256 files"));
}

static void test_nesting(void **state)
{
    static char text[3000] = "v = ";

    (void)state;
    memset(text + 4, '(', sizeof text - 5);
    fixture_load_text(&fixture, text);
    assert_problem("a.cfg:1: groups and lists are nested more than 32 deep");
}

static void test_bad_texts(void **state)
{
    static const char *const cases[][2] = {
        { "name = \"x\"\nsuites = (\n", "a.cfg:3: syntax error" },
        { "name = \"x;\n", "a.cfg:1: this text is not closed on its line" },
        { "\n/* x\n\n", "a.cfg:2: this comment is never closed" },
        { "name = @x;\n",
            "a.cfg:1: \"@\" may only begin a line of the form @include "
            "\"file.cfg\"" },
        { "name = { a = 1; };\n",
            "a.cfg:1: \"name\" must be a text, not a group or a list" },
        { "suites = 1;\n",
            "a.cfg:1: \"suites\" must be a list of groups, ( { ... }, { ... } "
            ")" },
        { "suites = ( { enabled = true; } );\n",
            "a.cfg:1: this suite has no \"plugin\"" },
        { "suites = ( { plugin = \"x\"; enabled = \"no\"; } );\n",
            "a.cfg:1: \"enabled\" must be true or false, without quotes" },
        { "suites = (\n{ plugin = \"x\"; },\n{ plugin = \"x\"; } );\n",
            "a.cfg:3: suite \"x\" stands here and at a.cfg:2, give each an id "
            "of its own" },
        { "suites = ( { plugin = \"x\"; buffer_size = \"1 MiB\"; } );\n",
            "a.cfg:1: parameter \"buffer_size\" stands beside \"plugin\", "
            "write params = { buffer_size = ...; }" },
        { "plugin_path = [];\n",
            "a.cfg:1: \"plugin_path\" must be more than an empty list" },
        { "reports = ( { format = \"json\"; } );\n",
            "a.cfg:1: a report needs \"format\" and \"file\"" },
        { "limits = ( { match = \"*\"; min = \"1 GB/s\"; mim = 1; } );\n",
            "a.cfg:1: unknown key \"mim\" in a limit, did you mean \"min\"" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture_load_text(&fixture, cases[i][0]);
        assert_problem(cases[i][1]);
    }
}

static void test_all_problems_at_once(void **state)
{
    (void)state;
    fixture_load_text(&fixture,
        "nam = 1;\nsuites = ( { plugin = \"x\"; enable = true; },\n"
        "{ plugin = \"y\"; limit = 1; } );\n");
    assert_int_equal(fixture.problems.errors, 3);
}

static void test_data_folder(void **state)
{
    char folder[128];

    (void)state;
    snprintf(folder, sizeof folder, "%s/data", fixture.folder);
    assert_int_equal(mkdir("data", 0700), 0);
    fixture_write("data/p.cfg", "name = \"there\";\n");

    const char *files[] = { "p.cfg" };
    const struct plan_request request = {
        .files = files, .files_count = 1, .data_dir = folder
    };

    assert_int_equal(plan_load(&request, &fixture.arena, &fixture.plan,
                         &fixture.problems, NULL),
        NVBW_OK);
    assert_no_problem();
    assert_string_equal(fixture.plan.name, "there");
}

static void test_folder(void **state)
{
    (void)state;
    assert_int_equal(mkdir("site", 0700), 0);
    fixture_write("site/20.cfg", "name = \"second\";\n");
    fixture_write("site/10.cfg", "name = \"first\"; budget = \"1 h\";\n");
    fixture_write("site/30.txt", "no plan");
    fixture_load(&fixture, (const char *const[]){ "site", NULL }, NULL);
    assert_no_problem();
    assert_string_equal(fixture.plan.name, "second");
    assert_string_equal(fixture.plan.files[0], "site/10.cfg");
}

static void test_sum_depends_on_text(void **state)
{
    char first[65];

    (void)state;
    fixture_load_text(&fixture, "name = \"a\";\n");
    snprintf(first, sizeof first, "%s", fixture.plan.sha256);
    fixture_load_text(&fixture, "name = \"a\";\n");
    assert_string_equal(first, fixture.plan.sha256);
    fixture_load_text(&fixture, "name = \"b\";\n");
    assert_string_not_equal(first, fixture.plan.sha256);
    fixture_write("a.cfg", "name = \"a\";\n");
    fixture_load(&fixture, (const char *const[]){ "a.cfg", NULL },
        (const char *const[]){ "name=a", NULL });
    assert_string_not_equal(first, fixture.plan.sha256);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_whole),
        TEST(test_plan_survives_frames),
        TEST(test_include),
        TEST(test_include_in_text_is_text),
        TEST(test_loop),
        TEST(test_include_depth),
        TEST(test_not_regular),
        TEST(test_missing),
        TEST(test_large),
        TEST(test_binary),
        TEST(test_include_bomb),
        TEST(test_nesting),
        TEST(test_bad_texts),
        TEST(test_all_problems_at_once),
        TEST(test_data_folder),
        TEST(test_folder),
        TEST(test_sum_depends_on_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
