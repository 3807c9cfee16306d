/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "nvbandwidth_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nvbandwidth_names.h"
#include "state.h"

static struct arena arena;
static struct plan plan;
static struct problems problems;
static struct error err;

static int start(void **state)
{
    (void)state;
    arena_init(&arena, 16 << 20);
    problems = (struct problems){ .arena = &arena };
    err = (struct error){ 0 };
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_clear(&arena);
    return 0;
}

static void make(const struct nvbandwidth_flags *flags)
{
    if (nvbandwidth_plan(flags, &arena, &plan, &problems, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

static void refuse(const struct nvbandwidth_flags *flags, const char *part)
{
    assert_int_equal(nvbandwidth_plan(flags, &arena, &plan, &problems, &err),
        NVBW_E_INVALID);
    if (strstr(err.text, part) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", err.text, part);
    }
}

static const struct plan_value *param(const char *name)
{
    for (uint32_t i = 0; i < plan.params_count; i++) {
        if (strcmp(plan.params[i].name, name) == 0) {
            return &plan.params[i];
        }
    }
    fail_msg("no parameter %s", name);
    return NULL;
}

static void assert_param(const char *name, const char *value, const char *from)
{
    assert_string_equal(param(name)->texts[0], value);
    assert_string_equal(param(name)->origin.file, from);
}

static void numbers_follow_the_version(void **state)
{
    (void)state;
    assert_int_equal(nvbandwidth_version(NULL), NVBANDWIDTH_0_10);
    assert_int_equal(nvbandwidth_version("0.8"), NVBANDWIDTH_0_8);
    assert_int_equal(nvbandwidth_version("0.9"), 0);
    assert_int_equal(nvbandwidth_count(NVBANDWIDTH_0_8), 35);
    assert_int_equal(nvbandwidth_count(NVBANDWIDTH_0_10), 44);
    assert_string_equal(nvbandwidth_at(NVBANDWIDTH_0_8, 33)->name,
        nvbandwidth_at(NVBANDWIDTH_0_10, 33)->name);
    assert_string_equal(
        nvbandwidth_at(NVBANDWIDTH_0_8, 34)->name, "device_local_copy");
    assert_string_equal(nvbandwidth_at(NVBANDWIDTH_0_10, 34)->name,
        "device_to_device_memcpy_read_tma");
    assert_string_equal(
        nvbandwidth_at(NVBANDWIDTH_0_10, 38)->name, "device_local_copy");
    assert_null(nvbandwidth_at(NVBANDWIDTH_0_8, 35));
    assert_null(nvbandwidth_at(NVBANDWIDTH_0_10, 44));
}

static void each_name_once(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < NVBANDWIDTH_NAMES; i++) {
        const struct nvbandwidth_name *const name =
            nvbandwidth_at(NVBANDWIDTH_0_10, i);

        assert_ptr_equal(nvbandwidth_find(name->name), name);
        assert_non_null(name->plugin);
    }
    assert_null(nvbandwidth_find("host_to_device"));
}

static void defaults_are_nvbandwidths(void **state)
{
    static const char from[] = "default of the nvbandwidth flags";
    const struct nvbandwidth_flags none = { 0 };

    (void)state;
    make(&none);
    assert_int_equal(plan.suites_count, 44);
    assert_string_equal(plan.defaults.required, "if_possible");
    assert_param("mode", "fixed", from);
    assert_param("buffer_size", "512 MiB", from);
    assert_param("copies", "16", from);
    assert_param("samples", "3", from);
    assert_param("warmup", "4", from);
    assert_param("verify", "true", from);
    assert_param("affinity", "true", from);
    assert_int_equal(plan.reports_count, 1);
    assert_string_equal(plan.reports[0].format, "nvbandwidth");
    assert_string_equal(plan.reports[0].file, "-");
    assert_int_equal(problems.count, 0);
}

static void flags_become_values(void **state)
{
    const char *names[] = { "34", "null_cell", "34" };
    const struct nvbandwidth_flags flags = { .testcases = names,
        .testcases_count = 3,
        .buffer_mib = "64",
        .samples = "5",
        .loop_count = "7",
        .version = "0.8",
        .skip_verification = 1,
        .disable_affinity = 1,
        .use_mean = 1,
        .json = 1 };

    (void)state;
    make(&flags);
    assert_param("buffer_size", "64 MiB", "command line: -b 64");
    assert_param("samples", "5", "command line: -i 5");
    assert_param("copies", "7", "command line: --loopCount 7");
    assert_param("verify", "false", "command line: -s");
    assert_param("affinity", "false", "command line: -d");
    assert_string_equal(plan.reports[0].format, "nvbandwidth-json");
    assert_int_equal(plan.suites_count, 3);
    assert_string_equal(plan.suites[0].tests[0], "device_local_copy");
    assert_string_equal(plan.suites[0].origin.file, "command line: -t 34");
    assert_string_equal(plan.suites[1].tests[0], "null_cell");
    assert_string_equal(plan.suites[2].id, "device_local_copy_2");
    assert_int_equal(problems.count, 2);
    assert_string_equal(problems.list[0].text,
        "number 34 of nvbandwidth 0.8 is device_local_copy");
}

static void notes_say_what_has_no_effect(void **state)
{
    const char *names[] = { "host_device_latency_sm", "device_local_copy" };
    const struct nvbandwidth_flags flags = { .testcases = names,
        .testcases_count = 2,
        .buffer_mib = "64",
        .huge_pages = 1 };

    (void)state;
    make(&flags);
    assert_int_equal(problems.errors, 0);
    assert_int_equal(problems.count, 2);
    assert_non_null(strstr(problems.list[0].text, "host_device_latency_sm"));
    assert_non_null(strstr(problems.list[1].text, "changes nothing"));
}

static void prefixes_choose(void **state)
{
    const char *prefixes[] = { "one_to_all", "all_to_one_write" };
    const struct nvbandwidth_flags flags = { .prefixes = prefixes,
        .prefixes_count = 2 };

    (void)state;
    make(&flags);
    assert_int_equal(plan.suites_count, 6);
    assert_string_equal(plan.suites[0].tests[0], "all_to_one_write_ce");
    assert_string_equal(plan.suites[5].tests[0], "one_to_all_read_sm");
}

static void mistakes_are_told(void **state)
{
    const char *word[] = { "0" };
    const char *bad[] = { "a b" };
    const struct nvbandwidth_flags both = { .testcases = word,
        .testcases_count = 1,
        .prefixes = word,
        .prefixes_count = 1 };
    const struct nvbandwidth_flags nothing = { .prefixes = bad,
        .prefixes_count = 1 };
    const struct nvbandwidth_flags odd = { .testcases = bad,
        .testcases_count = 1 };
    const struct nvbandwidth_flags single = { .pair = word, .pair_count = 1 };
    const struct nvbandwidth_flags zero = { .buffer_mib = "00" };
    const struct nvbandwidth_flags format = { .format = "xml" };
    const struct nvbandwidth_flags old = { .version = "0.6" };
    const struct nvbandwidth_flags pairs = { .pairs = "none" };
    const char *words[] = { "0-3", "4", "all", "1", "1,2", "3" };
    const struct nvbandwidth_flags range = { .pair = words, .pair_count = 2 };
    const struct nvbandwidth_flags all = { .pair = words + 2, .pair_count = 2 };
    const struct nvbandwidth_flags list = { .pair = words + 4,
        .pair_count = 2 };

    (void)state;
    refuse(&both, "exclude each other");
    refuse(&nothing, "no testcase begins with");
    refuse(&odd, "neither the name nor the number");
    refuse(&single, "two GPUs");
    refuse(&zero, "at least 1");
    refuse(&format, "not one of text, json, perf");
    refuse(&old, "not one of 0.8, 0.10");
    refuse(&pairs, "--targetNumPairs");
    refuse(&range, "--pair \"0-3\" is not one GPU");
    refuse(&all, "--pair \"all\" is not one GPU");
    refuse(&list, "--pair \"1,2\" is not one GPU");
}

static void sum_tells_requests_apart(void **state)
{
    const struct nvbandwidth_flags none = { 0 };
    const struct nvbandwidth_flags more = { .buffer_mib = "513" };
    const char *gpus[] = { "0", "GPU-5f2c-1", "0000:1a:00.0" };
    const struct nvbandwidth_flags pair = { .pair = gpus, .pair_count = 2 };
    const struct nvbandwidth_flags other = { .pair = gpus + 1,
        .pair_count = 2 };
    const struct nvbandwidth_flags five = { .pairs = "5" };
    const struct nvbandwidth_flags six = { .pairs = "6" };
    const char *sum = NULL;
    const char *second = NULL;

    (void)state;
    make(&none);
    sum = plan.sha256;
    make(&none);
    assert_string_equal(plan.sha256, sum);
    make(&more);
    assert_string_not_equal(plan.sha256, sum);
    make(&pair);
    assert_string_not_equal(plan.sha256, sum);
    second = plan.sha256;
    make(&other);
    assert_string_not_equal(plan.sha256, second);
    make(&five);
    assert_string_not_equal(plan.sha256, sum);
    second = plan.sha256;
    make(&six);
    assert_string_not_equal(plan.sha256, second);
}

/* A vendor's plugin may carry a name of nvbandwidth; what none carries says
 * so, and what nobody knows is an error with the nearest name. */
static void plugins_settle_suites(void **state)
{
    const char *names[] = { "device_local_copy", "all_to_one_read_sm",
        "device_local_cpy", "host_to_device_memcpy_ce" };
    const struct nvbandwidth_flags flags = { .testcases = names,
        .testcases_count = 4 };
    struct testcase_schema local = { .name = "device_local_copy" };
    struct plugin_schema there[] = {
        { .name = "acme", .testcases = &local, .testcases_count = 1 },
        { .name = "ce_h2d", .state = STATE_ERROR, .reason = "refused" },
    };
    struct plugin_schema *plugins = there;
    uint32_t count = 2;

    (void)state;
    make(&flags);
    assert_int_equal(
        nvbandwidth_plan_settle(&arena, &plan, &plugins, &count, &err),
        NVBW_OK);
    assert_string_equal(plan.suites[0].plugin, "acme");
    assert_string_equal(plan.suites[1].plugin, "all_to_one_read_sm");
    assert_string_equal(plan.suites[3].plugin, "ce_h2d");
    assert_int_equal(count, 4);
    assert_int_equal(plugins[2].state, STATE_SKIP);
    assert_string_equal(plugins[2].reason, "not_built");
    assert_non_null(strstr(plugins[2].message, "\"sm_d2d\""));
    assert_int_equal(plugins[3].state, STATE_ERROR);
    assert_string_equal(plugins[3].reason, "not_found");
    assert_non_null(
        strstr(plugins[3].message, "did you mean \"device_local_copy\""));
    assert_non_null(reason_find(STATE_ERROR, "not_found"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(numbers_follow_the_version),
        TEST(each_name_once),
        TEST(defaults_are_nvbandwidths),
        TEST(flags_become_values),
        TEST(notes_say_what_has_no_effect),
        TEST(prefixes_choose),
        TEST(mistakes_are_told),
        TEST(sum_tells_requests_apart),
        TEST(plugins_settle_suites),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
