/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "limit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const int32_t gpu2[] = { 2 };
static const int32_t pair02[] = { 0, 2 };

static struct limit_cell bandwidth_on(
    const int32_t *devices, uint32_t devices_count)
{
    return (struct limit_cell){
        .testcase = "host_to_device_memcpy_ce",
        .metric = "bandwidth",
        .unit = NVBW_UNIT_BYTES_PER_SECOND,
        .better = NVBW_HIGHER,
        .devices = devices,
        .devices_count = devices_count,
        .direction = "h2d",
        .buffer_bytes = 64 << 20,
    };
}

static void test_names(void **state)
{
    (void)state;
    assert_true(limit_matches_name("*", "a_ce", "bandwidth"));
    assert_true(limit_matches_name("a_*", "a_ce", "bandwidth"));
    assert_true(limit_matches_name("a_ce/band*", "a_ce", "bandwidth"));
    assert_true(limit_matches_name("*/total", "a_ce", "total"));
    assert_true(limit_matches_name(NULL, "a_ce", "total"));
    assert_false(limit_matches_name("a_ce/total", "a_ce", "bandwidth"));
    assert_false(limit_matches_name("a", "a_ce", "bandwidth"));
}

static void test_devices(void **state)
{
    (void)state;
    assert_true(limit_matches_devices("0-3,5", pair02, 2));
    assert_true(limit_matches_devices("2", gpu2, 1));
    assert_true(limit_matches_devices(NULL, NULL, 0));
    assert_false(limit_matches_devices("0,1", pair02, 2));
    assert_false(limit_matches_devices("0-3", NULL, 0));
    assert_false(limit_matches_devices("0-", gpu2, 1));
    assert_int_equal(limit_check_devices("0-3, 5", NULL), NVBW_OK);
    assert_int_equal(limit_check_devices("0-3,5,", NULL), NVBW_E_INVALID);
    assert_int_equal(limit_check_devices("", NULL), NVBW_E_INVALID);
    assert_int_equal(limit_check_devices("3-0", NULL), NVBW_E_INVALID);
    assert_int_equal(limit_check_devices("a", NULL), NVBW_E_INVALID);
    assert_int_equal(limit_check_devices("-1", NULL), NVBW_E_INVALID);
    assert_int_equal(
        limit_check_devices("99999999999999999999", NULL), NVBW_E_INVALID);
}

static void test_pairs(void **state)
{
    (void)state;
    assert_true(limit_matches_pair("0-2", pair02, 2));
    assert_true(limit_matches_pair("2-0", pair02, 2));
    assert_false(limit_matches_pair("0-1", pair02, 2));
    assert_false(limit_matches_pair("0-2", gpu2, 1));
    assert_int_equal(limit_check_pair("0-1", NULL), NVBW_OK);
    assert_int_equal(limit_check_pair("0-0", NULL), NVBW_E_INVALID);
    assert_int_equal(limit_check_pair("0-1-2", NULL), NVBW_E_INVALID);
    assert_int_equal(limit_check_pair("0", NULL), NVBW_E_INVALID);
}

static void test_sizes(void **state)
{
    (void)state;
    assert_true(limit_matches_size("64 MiB", 64 << 20));
    assert_true(limit_matches_size("1 MiB - 64 MiB", 64 << 20));
    assert_true(limit_matches_size("1MiB-64MiB", 1 << 20));
    assert_false(limit_matches_size("1 MiB-2 MiB", 64 << 20));
    assert_int_equal(limit_check_size("64", NULL), NVBW_E_INVALID);
    assert_int_equal(limit_check_size("2 MiB-1 MiB", NULL), NVBW_E_INVALID);
    assert_int_equal(limit_check_size("-1 MiB", NULL), NVBW_E_INVALID);
}

static void test_exact(void **state)
{
    const struct plan_limit exact = { .match = "a_ce" };
    const struct plan_limit metric = { .match = "a_ce/*" };
    const struct plan_limit glob = { .match = "a_*/bandwidth" };

    (void)state;
    assert_true(limit_is_exact(&exact));
    assert_true(limit_is_exact(&metric));
    assert_false(limit_is_exact(&glob));
}

/* Each limit beats those before it; all match the same cell. */
static void test_specificity(void **state)
{
    struct plan_limit limits[] = {
        { .match = "*", .min = "1 GB/s", .rank = 9 },
        { .match = "host_*", .min = "2 GB/s", .rank = 1 },
        { .match = "host_*", .min = "3 GB/s", .rank = 2 },
        { .match = "*", .min = "4 GB/s", .devices = "2", .rank = 3 },
        { .match = "*", .min = "5 GB/s", .devices = "2", .direction = "h2d" },
        { .match = "*",
            .min = "6 GB/s",
            .devices = "2",
            .direction = "h2d",
            .size = "64 MiB" },
    };
    const struct limit_cell cell = bandwidth_on(gpu2, 1);

    (void)state;
    for (uint32_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const struct plan plan = { .limits = limits, .limits_count = i + 1 };

        assert_ptr_equal(limit_find(&plan, 0, &cell), &limits[i]);
    }
}

static void test_suite_over_plan(void **state)
{
    struct plan_limit top[] = {
        { .match = "*", .min = "1 GB/s", .rank = 7 },
        { .match = "host_to_device_memcpy_ce", .min = "9 GB/s", .rank = 8 },
    };
    struct plan_limit own[] = { { .match = "*", .min = "2 GB/s", .rank = 1 } };
    struct plan_suite suite = { .limits = own, .limits_count = 1 };
    const struct limit_cell cell = bandwidth_on(gpu2, 1);
    struct plan plan = {
        .limits = top, .limits_count = 1, .suites = &suite, .suites_count = 1
    };

    (void)state;
    assert_ptr_equal(limit_find(&plan, 0, &cell), &own[0]);
    plan.limits_count = 2;
    assert_ptr_equal(limit_find(&plan, 0, &cell), &top[1]);
}

static void test_side_and_unit(void **state)
{
    struct plan_limit limits[] = {
        { .match = "*", .min = "95 % of expected", .rank = 1 },
        { .match = "*", .max = "900 ns", .rank = 2 },
    };
    const struct plan plan = { .limits = limits, .limits_count = 2 };
    struct limit_cell cell = bandwidth_on(gpu2, 1);

    (void)state;
    assert_ptr_equal(limit_find(&plan, 0, &cell), &limits[0]);
    cell.unit = NVBW_UNIT_NANOSECONDS;
    cell.better = NVBW_LOWER;
    assert_ptr_equal(limit_find(&plan, 0, &cell), &limits[1]);
    cell.unit = NVBW_UNIT_RATIO;
    assert_null(limit_find(&plan, 0, &cell));
    cell.better = NVBW_HIGHER;
    assert_null(limit_find(&plan, 0, &cell));
}

static void test_unknown_direction_matches_nothing(void **state)
{
    struct plan_limit limit = {
        .match = "*", .min = "1 GB/s", .direction = "h2d"
    };
    const struct plan plan = { .limits = &limit, .limits_count = 1 };
    struct limit_cell cell = bandwidth_on(gpu2, 1);

    (void)state;
    assert_non_null(limit_find(&plan, 0, &cell));
    cell.direction = NULL;
    assert_null(limit_find(&plan, 0, &cell));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_specificity),
        cmocka_unit_test(test_suite_over_plan),
        cmocka_unit_test(test_side_and_unit),
        cmocka_unit_test(test_unknown_direction_matches_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
