/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The line through the times of a ladder of sizes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "transfer_fit.h"

enum { SIZES = 5 };
static const double sizes[SIZES] = { 1024, 65536, 1048576, 16777216, 67108864 };

static void bandwidths_of(double fixed_seconds, double rate, double out[SIZES])
{
    for (uint32_t i = 0; i < SIZES; i++) {
        out[i] = sizes[i] / (fixed_seconds + sizes[i] / rate);
    }
}

static void assert_near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-6 * fabs(wanted))) {
        fail_msg("%.9g instead of %.9g", got, wanted);
    }
}

static void a_line_is_found_again(void **state)
{
    double bandwidths[SIZES];
    struct transfer_fit fit;
    (void)state;

    bandwidths_of(2e-6, 55e9, bandwidths);
    assert_true(transfer_fit_line(sizes, bandwidths, SIZES, &fit));
    assert_near(fit.call_cost_ns, 2000.0);
    assert_near(fit.rate, 55e9);
    assert_near(fit.half_size, 110000.0);
}

static void one_slow_size_does_not_tilt_it(void **state)
{
    double bandwidths[SIZES];
    struct transfer_fit fit;
    (void)state;

    bandwidths_of(2e-6, 55e9, bandwidths);
    bandwidths[SIZES - 1] *= 0.99;
    assert_true(transfer_fit_line(sizes, bandwidths, SIZES, &fit));
    assert_true(fabs(fit.call_cost_ns - 2000.0) < 5.0);
    assert_true(fit.rate < 55e9 && fit.rate > 54e9);
}

static void no_copy_costs_less_than_nothing(void **state)
{
    static const double large[] = { 1e9, 2e9, 3e9 };
    static const double falling[] = { 50e9, 49e9, 48e9 };
    struct transfer_fit fit;
    (void)state;

    assert_true(transfer_fit_line(large, falling, 3, &fit));
    assert_true(fit.call_cost_ns == 0.0 && fit.half_size == 0.0);
    assert_true(fit.rate > 48e9 && fit.rate < 50e9);
}

static void too_little_gives_no_line(void **state)
{
    static const double same[] = { 4096, 4096, 4096 };
    static const double none[] = { 1e9, 0.0, 1e9 };
    static const double some[] = { 1e9, 2e9, 3e9 };
    struct transfer_fit fit;
    (void)state;

    assert_false(transfer_fit_line(sizes, some, 2, &fit));
    assert_false(transfer_fit_line(sizes, none, 3, &fit));
    assert_false(transfer_fit_line(same, some, 3, &fit));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_found_again),
        cmocka_unit_test(one_slow_size_does_not_tilt_it),
        cmocka_unit_test(no_copy_costs_less_than_nothing),
        cmocka_unit_test(too_little_gives_no_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
