/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Every plan of tests/cli/bad_plans against what its .expect file says, and
 * the shipped plans, which must be right. */
#include "plan_fixture.h"
#include "state.h"
#include "strbuf.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct plan_fixture fixture;

static struct metric_schema bandwidth[] = {
    { .name = "bandwidth",
        .unit = NVBW_UNIT_BYTES_PER_SECOND,
        .better = NVBW_HIGHER,
        .cols = "gpu" },
};
static struct metric_schema latency[] = {
    { .name = "latency",
        .unit = NVBW_UNIT_NANOSECONDS,
        .better = NVBW_LOWER,
        .cols = "gpu" },
};
static struct param_schema burst = { .name = "burst",
    .type = NVBW_TYPE_INT,
    .default_text = "1",
    .min_text = "1",
    .max_text = "8" };
static struct param_schema footprint = {
    .name = "footprint", .type = NVBW_TYPE_SIZE, .default_text = "0 B"
};
static struct param_schema share = { .name = "share",
    .type = NVBW_TYPE_REAL,
    .unit = NVBW_UNIT_RATIO,
    .default_text = "2 %" };
static const char *host_tags[] = { "host" };
static struct testcase_schema host_testcases[] = {
    { .name = "host_to_device_memcpy_ce",
        .metrics = bandwidth,
        .metrics_count = 1,
        .tags = host_tags,
        .tags_count = 1 },
    { .name = "device_to_host_memcpy_ce",
        .metrics = bandwidth,
        .metrics_count = 1,
        .params = &burst,
        .params_count = 1 },
    { .name = "host_to_device_bidirectional_memcpy_ce",
        .metrics = bandwidth,
        .metrics_count = 1,
        .params = &share,
        .params_count = 1 },
    { .name = "all_to_host_memcpy_ce",
        .metrics = bandwidth,
        .metrics_count = 1 },
    { .name = "host_to_all_memcpy_ce",
        .metrics = bandwidth,
        .metrics_count = 1 },
    { .name = "all_to_host_bidirectional_memcpy_ce",
        .metrics = bandwidth,
        .metrics_count = 1 },
    { .name = "host_to_all_bidirectional_memcpy_ce",
        .metrics = bandwidth,
        .metrics_count = 1 },
};
static struct testcase_schema peer_testcases[] = {
    { .name = "all_to_one_write_ce", .metrics = bandwidth, .metrics_count = 1 },
    { .name = "one_to_all_write_ce", .metrics = bandwidth, .metrics_count = 1 },
};
static struct testcase_schema memory_testcases[] = {
    { .name = "host_memory_read", .metrics = bandwidth, .metrics_count = 1 },
};
static struct metric_schema rank_metrics[] = {
    { .name = "bandwidth",
        .unit = NVBW_UNIT_BYTES_PER_SECOND,
        .better = NVBW_HIGHER,
        .cols = "rank" },
    { .name = "median",
        .unit = NVBW_UNIT_BYTES_PER_SECOND,
        .better = NVBW_HIGHER,
        .cols = "rank" },
    { .name = "forward",
        .unit = NVBW_UNIT_BYTES_PER_SECOND,
        .better = NVBW_HIGHER,
        .cols = "rank" },
    { .name = "reverse",
        .unit = NVBW_UNIT_BYTES_PER_SECOND,
        .better = NVBW_HIGHER,
        .cols = "rank" },
    { .name = "total",
        .unit = NVBW_UNIT_BYTES_PER_SECOND,
        .better = NVBW_HIGHER,
        .cols = "rank" },
    { .name = "latency",
        .unit = NVBW_UNIT_NANOSECONDS,
        .better = NVBW_LOWER,
        .cols = "rank" },
};
#define RANKS(name_)                                                           \
    {                                                                          \
        .name = (name_), .need_features = NVBW_NEED_MPI,                       \
        .metrics = rank_metrics, .metrics_count = 6                            \
    }
static struct testcase_schema rank_testcases[] = {
    RANKS("multinode_bisect_write_ce"),
    RANKS("multinode_gpu_to_rack_write_ce"),
    RANKS("multinode_gpu_to_rack_read_sm"),
    RANKS("multinode_rack_to_rack_write_ce"),
    RANKS("multinode_fabric_stress_write_sm"),
    RANKS("multinode_device_to_device_memcpy_read_ce"),
};
enum { RANK_TESTCASES = sizeof rank_testcases / sizeof *rank_testcases };
static struct testcase_schema local_testcases[] = {
    { .name = "host_memory_read", .metrics = bandwidth, .metrics_count = 1 },
    { .name = "device_local_copy", .metrics = bandwidth, .metrics_count = 1 },
    { .name = "stream_copy", .metrics = bandwidth, .metrics_count = 1 },
};
#define LATENCY(name_)                                                         \
    {                                                                          \
        .name = (name_), .metrics = latency, .metrics_count = 1,               \
        .params = &footprint, .params_count = 1                                \
    }
static struct testcase_schema latency_testcases[] = {
    { .name = "latency_host", .metrics = latency, .metrics_count = 1 },
    LATENCY("host_device_latency_sm"),
    LATENCY("device_to_device_latency_sm"),
    LATENCY("device_local_latency_sm"),
};
static struct plugin_schema plugins[] = {
    { .name = "ce_h2d",
        .file = "/p/ce_h2d.so",
        .testcases = host_testcases,
        .testcases_count = 7,
        .sha256 = "aa" },
    { .name = "ce_d2d",
        .file = "/p/ce_d2d.so",
        .testcases = peer_testcases,
        .testcases_count = 2 },
    { .name = "sm_h2d",
        .file = "/p/sm_h2d.so",
        .testcases = memory_testcases,
        .testcases_count = 1 },
    { .name = "sm_d2d",
        .file = "/p/sm_d2d.so",
        .testcases = memory_testcases,
        .testcases_count = 1 },
    { .name = "tma",
        .file = "/p/tma.so",
        .testcases = memory_testcases,
        .testcases_count = 1 },
    { .name = "local",
        .file = "/p/local.so",
        .testcases = local_testcases,
        .testcases_count = 3 },
    { .name = "hostmem",
        .file = "/p/hostmem.so",
        .testcases = memory_testcases,
        .testcases_count = 1 },
    { .name = "multinode",
        .file = "/p/multinode.so",
        .testcases = rank_testcases,
        .testcases_count = RANK_TESTCASES },
    { .name = "latency",
        .file = "/p/latency.so",
        .testcases = latency_testcases,
        .testcases_count = 4 },
    { .name = "broken",
        .file = "/p/broken.so",
        .state = STATE_ERROR,
        .reason = "refused",
        .message = "plugin broken.so: not an ELF file" },
};

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

static void check_file(const char *file)
{
    fixture_load(&fixture, (const char *const[]){ file, NULL }, NULL);
    plan_check(&fixture.plan, plugins, sizeof plugins / sizeof *plugins,
        &fixture.problems);
}

static void check_text(const char *text)
{
    fixture_write("a.cfg", text);
    check_file("a.cfg");
}

static char *read_file(const char *path)
{
    FILE *const in = fopen(path, "r");
    char *const text = arena_alloc(&fixture.arena, 1 << 16, 1);

    if (in == NULL) {
        return NULL;
    }
    assert_non_null(text);
    text[fread(text, 1, (1 << 16) - 1, in)] = '\0';
    fclose(in);
    return text;
}

/* Every problem on a line, as the command line prints it. */
static char *all_problems(void)
{
    struct strbuf buf;

    strbuf_init(&buf, 1 << 16);
    for (uint32_t i = 0; i < fixture.problems.count; i++) {
        strbuf_format(&buf, "%s\n", fixture_problem(&fixture, i));
    }

    char *const text = arena_text(&fixture.arena, buf.text);

    strbuf_free(&buf);
    return text;
}

static int compare_bad_plan(const char *path)
{
    const char *const name = strrchr(path, '/') + 1;
    char expect[512];

    check_file(name);
    snprintf(
        expect, sizeof expect, "%.*s.expect", (int)strcspn(name, "."), name);

    const char *const wanted = read_file(expect);
    const char *const got = all_problems();

    if (wanted != NULL && strcmp(wanted, got) == 0) {
        return 0;
    }
    fprintf(stderr, "%s: wanted\n%s%s: got\n%s", name,
        wanted == NULL ? "(no .expect file)\n" : wanted, name, got);
    return 1;
}

static void test_bad_plans(void **state)
{
    glob_t found;
    int wrong = 0;

    (void)state;
    assert_int_equal(glob(BAD_PLANS "/*.cfg", 0, NULL, &found), 0);
    assert_int_equal(chdir(BAD_PLANS), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        wrong += compare_bad_plan(found.gl_pathv[i]);
    }
    assert_true(found.gl_pathc >= 15);
    globfree(&found);
    assert_int_equal(wrong, 0);
}

static void test_own_parameter(void **state)
{
    (void)state;
    check_text(
        "suites = ( { plugin = \"ce_h2d\"; params = { burst = 8; }; } );");
    assert_int_equal(fixture.problems.count, 0);
    check_text(
        "suites = ( { plugin = \"ce_h2d\"; params = { burst = 9; }; } );");
    assert_string_equal(fixture_problem(&fixture, 0),
        "a.cfg:1: parameter \"burst\": \"9\" is above the maximum \"8\"");
    check_text(
        "defaults = { burst = 3; }; suites = ( { plugin = \"ce_h2d\"; } );");
    assert_int_equal(fixture.problems.count, 0);
    check_text(
        "suites = ( { plugin = \"ce_h2d\"; tests = \"host_to_device_*\"; "
        "params = { burst = 3; }; } );");
    assert_int_equal(fixture.problems.errors, 1);
    assert_string_equal(fixture_problem(&fixture, 0),
        "a.cfg:1: parameter \"burst\" is of device_to_host_memcpy_ce, which "
        "suite \"ce_h2d\" does not run");
}

/* A plugin may declare a ratio as a bare number, so such a one is allowed. */
static void test_own_ratio(void **state)
{
    (void)state;
    check_text(
        "suites = ( { plugin = \"ce_h2d\"; params = { share = 0.2; }; } );");
    assert_int_equal(fixture.problems.count, 0);
    check_text(
        "suites = ( { plugin = \"ce_h2d\"; params = { share = 0.5; }; } );");
    assert_int_equal(fixture.problems.errors, 0);
    assert_int_equal(fixture.problems.count, 1);
    assert_string_equal(fixture_problem(&fixture, 0),
        "a.cfg:1: warning: parameter \"share\": \"0.5\" is 50 %; write \"0.5 "
        "%\" or, if that is meant, \"50 %\"");
}

static void test_ladders(void **state)
{
    (void)state;
    check_text("defaults = { sizes = [ \"quick\", \"4 KiB\" ]; };\n"
               "suites = ( { plugin = \"ce_h2d\"; params = { sizes = "
               "\"4 KiB/1 MiB/4 KiB, 2 GiB\"; }; } );");
    assert_string_equal(fixture_problem(&fixture, 0), "");
    check_text("suites = ( { plugin = \"ce_h2d\"; params = { sizes = "
               "\"4 KiB,\"; }; } );");
    assert_int_equal(fixture.problems.errors, 1);
    check_text("suites = ( { plugin = \"ce_h2d\"; params = { sizes = "
               "\"4 KiB/1 GiB/4 KiB\"; }; } );");
    assert_non_null(strstr(fixture_problem(&fixture, 0), "more than 1024"));
}

static void test_limit_of_disabled_suite(void **state)
{
    (void)state;
    check_text("limits = ( { match = \"latency_host\"; max = \"1 us\"; } );\n"
               "suites = ( { plugin = \"ce_h2d\"; }, { plugin = \"latency\"; "
               "enabled = false; } );");
    assert_int_equal(fixture.problems.count, 0);
    /* Other testcases of the pattern are on, and have no such metric. */
    check_text(
        "limits = ( { match = \"*_host*/latency\"; max = \"1 us\"; } );\n"
        "suites = ( { plugin = \"hostmem\"; }, { plugin = \"ce_h2d\"; }, "
        "{ plugin = \"latency\"; enabled = false; } );");
    assert_int_equal(fixture.problems.count, 0);
}

static void test_pin(void **state)
{
    (void)state;
    check_text(
        "suites = ( { plugin = \"ce_h2d\"; sha256 = \"00112233445566778899"
        "aabbccddeeff00112233445566778899aabbccddeeff\"; } );");
    assert_int_equal(fixture.problems.errors, 1);
    assert_non_null(strstr(fixture_problem(&fixture, 0), "has the sha256 aa"));
}

/* What stands in for a plugin that is not there has no names to check. */
static void test_stand_in(void **state)
{
    struct plugin_schema absent = { .name = "foo",
        .state = STATE_ERROR,
        .reason = "not_found",
        .message = "there is no testcase \"foo\"" };

    (void)state;
    fixture_write("a.cfg", "suites = ( { plugin = \"foo\"; } );");
    fixture_load(&fixture, (const char *const[]){ "a.cfg", NULL }, NULL);
    plan_check(&fixture.plan, &absent, 1, &fixture.problems);
    assert_int_equal(fixture.problems.count, 1);
    assert_string_equal(fixture_problem(&fixture, 0),
        "a.cfg:1: warning: there is no testcase \"foo\"");
}

static void test_mpi(void **state)
{
    (void)state;
    check_text("mpi = true; suites = ( { plugin = \"hostmem\"; } );");
    assert_int_equal(fixture.problems.errors, 1);
    assert_non_null(strstr(fixture_problem(&fixture, 0), "in MPI mode"));
}

static void test_selection(void **state)
{
    const char *only[] = { "host_to_device_memcpy_ce",
        "host_to_devic_memcpy_ce" };
    const char *tags[] = { "host", "hsot" };

    (void)state;
    check_text("suites = ( { plugin = \"ce_h2d\"; } );");
    fixture.plan.only = only;
    fixture.plan.only_count = 2;
    fixture.plan.tags = tags;
    fixture.plan.tags_count = 2;
    plan_check(&fixture.plan, plugins, 4, &fixture.problems);
    assert_string_equal(fixture_problem(&fixture, 0),
        "-t:0: the plan has no testcase \"host_to_devic_memcpy_ce\", did you "
        "mean \"host_to_device_memcpy_ce\"");
    assert_string_equal(fixture_problem(&fixture, 1),
        "--tags:0: the plan has no testcase with tag \"hsot\", did you mean "
        "\"host\"");
    assert_int_equal(fixture.problems.count, 2);
}

/* A plan cannot steer the terminal that shows its mistakes. */
static void test_control_characters(void **state)
{
    (void)state;
    check_text("suites = ( { plugin = \"x\\x1b[31m\"; } );");
    assert_int_equal(fixture.problems.errors, 1);
    assert_null(strchr(fixture_problem(&fixture, 0), '\x1b'));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_bad_plans),
        TEST(test_own_parameter),
        TEST(test_own_ratio),
        TEST(test_ladders),
        TEST(test_limit_of_disabled_suite),
        TEST(test_pin),
        TEST(test_stand_in),
        TEST(test_mpi),
        TEST(test_selection),
        TEST(test_control_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
