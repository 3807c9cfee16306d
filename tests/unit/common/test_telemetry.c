/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "telemetry.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct gpu_reading reading_at(uint64_t now_ns)
{
    struct gpu_reading reading;

    gpu_reading_init(&reading);
    reading.now_ns = now_ns;
    return reading;
}

static void a_cell_keeps_extremes_and_rises(void **state)
{
    struct gpu_reading first = reading_at(100);
    struct gpu_reading last = reading_at(300);
    struct gpu_telemetry cell;

    (void)state;
    first.sm_mhz = 345;
    first.pcie_generation = 1;
    first.pcie_width = 16;
    first.pcie_replays = 5;
    first.xids = 2;
    last.sm_mhz = 1980;
    last.pcie_generation = 5;
    last.pcie_width = 8;
    last.pcie_replays = 9;
    last.xids = 0; /* began anew */
    last.reasons = REASON_BIT_POWER_CAP;
    gpu_telemetry_init(&cell, 3);
    gpu_telemetry_add(&cell, &first, &first);
    gpu_telemetry_add(&cell, &first, &last);
    assert_int_equal(cell.gpu, 3);
    assert_int_equal(cell.readings, 2);
    assert_int_equal(cell.span_ns, 200);
    assert_int_equal(cell.reasons, REASON_BIT_POWER_CAP);
    assert_true(cell.sm_mhz_least == 345 && cell.sm_mhz_most == 1980);
    assert_true(cell.pcie_generation_most == 5);
    assert_true(cell.pcie_width_least == 8);
    assert_true(cell.pcie_replays == 4);
    assert_true(isnan(cell.xids));
    assert_true(isnan(cell.power_w_most));
    assert_true(isnan(cell.nvlink_crc));
}

/* What took long was not asked for at the begin. */
static void a_counter_starts_where_it_is_first_read(void **state)
{
    struct gpu_reading first = reading_at(100);
    struct gpu_reading middle = reading_at(200);
    struct gpu_reading last = reading_at(300);
    struct gpu_telemetry cell;

    (void)state;
    middle.nvlink_crc = 7;
    last.nvlink_crc = 10;
    gpu_telemetry_init(&cell, 0);
    gpu_telemetry_add(&cell, &first, &first);
    gpu_telemetry_add(&cell, &first, &middle);
    assert_true(isnan(cell.nvlink_crc));
    gpu_telemetry_add(&cell, &first, &last);
    assert_true(cell.nvlink_crc == 3);
}

static void one_reading_is_not_two_ends(void **state)
{
    struct gpu_reading only = reading_at(1000);
    double share = 0.0;

    (void)state;
    only.reasons = REASON_BIT_HW_THERMAL;
    only.has_reasons = 1;
    assert_null(telemetry_throttled(&only, &only, 0.01, &share));
}

static void the_gravest_reason_is_told(void **state)
{
    struct gpu_reading from = reading_at(0);
    struct gpu_reading to = reading_at(1000);
    double share = 0.0;

    (void)state;
    from.power_cap_ns = from.hw_thermal_ns = 0;
    to.power_cap_ns = 900;
    to.hw_thermal_ns = 20;

    const struct throttle_reason *reason =
        telemetry_throttled(&from, &to, 0.01, &share);

    assert_string_equal(reason->name, "hw_thermal");
    assert_true(reason->grave && fabs(share - 0.02) < 1e-12);
    reason = telemetry_throttled(&from, &to, 0.05, &share);
    assert_string_equal(reason->name, "power_cap");
    assert_false(reason->grave);
    assert_null(telemetry_throttled(&from, &to, 0.95, &share));
}

/* Slowdown shows for a moment when clocks change. */
static void a_bit_counts_at_both_ends_only(void **state)
{
    struct gpu_reading from = reading_at(0);
    struct gpu_reading to = reading_at(1000);
    double share = 0.0;

    (void)state;
    to.reasons = REASON_BIT_SLOWDOWN;
    assert_null(telemetry_throttled(&from, &to, 0.01, &share));
    from.reasons = REASON_BIT_SLOWDOWN | REASON_BIT_IDLE;
    assert_string_equal(
        telemetry_throttled(&from, &to, 0.01, &share)->name, "hw_slowdown");
    assert_true(isnan(share));
}

/* Whoever adds a value adds it in one place: all views agree. */
static void every_value_has_its_place(void **state)
{
    struct gpu_reading reading = reading_at(0);

    (void)state;
    for (const struct telemetry_value *at = telemetry_gauges; at->name != NULL;
         at++) {
        assert_true(isnan(telemetry_get(&reading, at->in_reading)));
        assert_true(at->least >= 0 || at->most >= 0);
    }
    for (const struct telemetry_value *at = telemetry_counters;
         at->name != NULL; at++) {
        assert_true(isnan(telemetry_get(&reading, at->in_reading)));
        assert_true(at->most >= 0 && at->least < 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_keeps_extremes_and_rises),
        cmocka_unit_test(a_counter_starts_where_it_is_first_read),
        cmocka_unit_test(one_reading_is_not_two_ends),
        cmocka_unit_test(the_gravest_reason_is_told),
        cmocka_unit_test(a_bit_counts_at_both_ends_only),
        cmocka_unit_test(every_value_has_its_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
