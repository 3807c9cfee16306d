/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static uint64_t seed = 20261129;

/* Uniform in 0..1, the same in every run. */
static double next_random(void)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (double)(seed >> 11) / 9007199254740992.0;
}

static void assert_near(double value, double wanted, double tolerance)
{
    if (!(fabs(value - wanted) <= tolerance)) {
        print_error("%.17g is not %.17g\n", value, wanted);
        fail();
    }
}

static void ranks_are_the_published_ones(void **state)
{
    static const struct {
        uint32_t count, low, high;
    } rows[] = { { 6, 1, 6 }, { 7, 1, 7 }, { 8, 1, 8 }, { 9, 2, 8 },
        { 10, 2, 9 }, { 12, 3, 10 }, { 15, 4, 12 }, { 20, 6, 15 },
        { 30, 10, 21 }, { 100, 40, 61 }, { 1000, 469, 532 } };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t low = 0;
        uint32_t high = 0;

        assert_true(stats_ranks(rows[i].count, &low, &high));
        assert_int_equal(low, rows[i].low);
        assert_int_equal(high, rows[i].high);
    }
}

static void five_samples_have_no_interval(void **state)
{
    static const double samples[] = { 1, 2, 3, 4, 5 };
    uint32_t low = 0;
    uint32_t high = 0;
    struct stats stats;

    (void)state;
    assert_false(stats_ranks(5, &low, &high));
    stats_of(samples, 5, &stats);
    assert_true(isnan(stats.low) && isnan(stats.high) && isnan(stats.drift));
    assert_true(isnan(stats_half_width(&stats)));
    assert_near(stats.median, 3, 0);
}

static double coverage(uint32_t count, uint32_t low)
{
    double term = ldexp(1.0, -(int)count);
    double outside = 0.0;

    for (uint32_t i = 0; i < low; i++) {
        outside += 2.0 * term;
        term *= (double)(count - i) / (double)(i + 1);
    }
    return 1.0 - outside;
}

/* At every count the ranks cover 95 %, and one rank closer would not. */
static void ranks_are_the_tightest_that_cover(void **state)
{
    (void)state;
    for (uint32_t count = 6; count <= 1000; count++) {
        uint32_t low = 0;
        uint32_t high = 0;

        assert_true(stats_ranks(count, &low, &high));
        assert_int_equal(low + high, count + 1);
        assert_true(coverage(count, low) >= 0.95);
        assert_true(coverage(count, low + 1) < 0.95);
    }
}

/* The rule for large counts joins the exact one without a jump. */
static void ranks_stay_monotone_at_the_seam(void **state)
{
    uint32_t before = 420;

    (void)state;
    for (uint32_t count = 900; count <= 1200; count++) {
        uint32_t low = 0;
        uint32_t high = 0;

        assert_true(stats_ranks(count, &low, &high));
        assert_in_range(low, before, before + 1);
        before = low;
    }
}

static void quantiles_interpolate(void **state)
{
    static const double samples[] = { 40, 10, 30, 20 };

    (void)state;
    assert_near(stats_quantile(samples, 4, 0.0), 10, 0);
    assert_near(stats_quantile(samples, 4, 1.0), 40, 0);
    assert_near(stats_quantile(samples, 4, 0.5), 25, 1e-12);
    assert_near(stats_quantile(samples, 4, 0.25), 17.5, 1e-12);
    assert_true(isnan(stats_quantile(samples, 0, 0.5)));
    assert_true(isnan(stats_quantile(samples, 4, 1.5)));
    assert_true(isnan(stats_quantile(samples, 4, NAN)));
}

static void figures_are_those_computed_by_hand(void **state)
{
    static const double samples[] = { 5, 3, 8, 1, 9, 2, 7, 4 };
    struct stats stats;

    (void)state;
    stats_of(samples, 8, &stats);
    assert_int_equal(stats.count, 8);
    assert_near(stats.min, 1, 0);
    assert_near(stats.max, 9, 0);
    assert_near(stats.median, 4.5, 0);
    assert_near(stats.mean, 4.875, 1e-12);
    assert_near(stats.deviation, 2.9001231501, 1e-9);
    assert_near(stats.low, 1, 0);
    assert_near(stats.high, 9, 0);
    assert_near(stats_half_width(&stats), 8.0 / 2.0 / 4.5, 1e-12);
    assert_true(isnan(stats.p5) && isnan(stats.p95));
    assert_near(samples[0], 5, 0);
}

static void order_does_not_matter_but_for_drift(void **state)
{
    double rising[40];
    double falling[40];
    struct stats up;
    struct stats down;

    (void)state;
    for (uint32_t i = 0; i < 40; i++) {
        rising[i] = 100.0 + i;
        falling[39 - i] = rising[i];
    }
    stats_of(rising, 40, &up);
    stats_of(falling, 40, &down);
    assert_near(up.median, down.median, 0);
    assert_near(up.p5, down.p5, 0);
    assert_near(up.low, down.low, 0);
    assert_near(up.drift, 39.0 / 119.5, 1e-12);
    assert_near(down.drift, -39.0 / 119.5, 1e-12);
}

static void drift_ignores_outliers(void **state)
{
    double samples[30];
    struct stats stats;

    (void)state;
    for (uint32_t i = 0; i < 30; i++) {
        samples[i] = 50.0;
    }
    samples[29] = 5.0;
    samples[3] = 900.0;
    stats_of(samples, 30, &stats);
    assert_near(stats.drift, 0, 1e-12);
}

/* Long runs are folded first; the slope must survive that. */
static void drift_of_a_long_run_is_found(void **state)
{
    enum { COUNT = 5003 };
    static double samples[COUNT];
    struct stats stats;

    (void)state;
    for (uint32_t i = 0; i < COUNT; i++) {
        samples[i] = 100.0 + 10.0 * i / COUNT + 0.5 * next_random();
    }
    stats_of(samples, COUNT, &stats);
    assert_near(stats.drift, 10.0 / 105.25, 0.002);
}

static void numbers_that_are_none_are_left_out(void **state)
{
    const double samples[] = { NAN, 2, NAN, 4 };
    struct stats stats;

    (void)state;
    stats_of(samples, 4, &stats);
    assert_int_equal(stats.count, 2);
    assert_near(stats.median, 3, 0);
    stats_of(NULL, 0, &stats);
    assert_int_equal(stats.count, 0);
    assert_true(isnan(stats.median) && isnan(stats.min));
}

/* The interval holds the true median in about 95 % of draws; a wrong rank
 * would miss by far more than this tolerance. */
static void interval_covers_the_median(void **state)
{
    enum { DRAWS = 4000 };
    static const uint32_t counts[] = { 8, 12, 15, 31 };

    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        uint32_t held = 0;

        for (uint32_t draw = 0; draw < DRAWS; draw++) {
            double samples[31];
            struct stats stats;

            for (uint32_t i = 0; i < counts[c]; i++) {
                samples[i] = pow(next_random(), 3.0);
            }
            stats_of(samples, counts[c], &stats);
            held += stats.low <= 0.125 && stats.high >= 0.125;
        }
        assert_true(held >= DRAWS * 94 / 100);
    }
}

/* Each figure scales with its samples and none leaves their range. */
static void figures_scale_and_stay_in_range(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 300; round++) {
        const uint32_t count = 1 + (uint32_t)(next_random() * 60);
        double samples[64];
        double scaled[64];
        struct stats one;
        struct stats twice;

        for (uint32_t i = 0; i < count; i++) {
            samples[i] = 1.0 + next_random();
            scaled[i] = samples[i] * 2.0;
        }
        stats_of(samples, count, &one);
        stats_of(scaled, count, &twice);
        assert_near(twice.median, 2.0 * one.median, 1e-12);
        assert_near(twice.mean, 2.0 * one.mean, 1e-9);
        assert_true(one.min <= one.median && one.median <= one.max);
        assert_true(one.min <= one.mean && one.mean <= one.max);
        if (count >= 6) {
            assert_near(twice.drift, one.drift, 1e-9);
            assert_true(one.low <= one.median && one.median <= one.high);
        }
        if (count >= 20) {
            assert_true(one.p5 <= one.median && one.median <= one.p95);
        }
    }
}

static void student_is_as_tabulated(void **state)
{
    static const struct {
        uint32_t freedom;
        double t;
    } rows[] = { { 2, 9.925 }, { 4, 4.604 }, { 10, 3.169 }, { 11, 3.106 },
        { 20, 2.845 }, { 60, 2.660 }, { 1000, 2.581 } };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_true(
            fabs(stats_student_99(rows[i].freedom) - rows[i].t) < 0.004);
    }
    assert_true(isinf(stats_student_99(0)));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_the_published_ones),
        cmocka_unit_test(five_samples_have_no_interval),
        cmocka_unit_test(ranks_are_the_tightest_that_cover),
        cmocka_unit_test(ranks_stay_monotone_at_the_seam),
        cmocka_unit_test(quantiles_interpolate),
        cmocka_unit_test(figures_are_those_computed_by_hand),
        cmocka_unit_test(order_does_not_matter_but_for_drift),
        cmocka_unit_test(drift_ignores_outliers),
        cmocka_unit_test(drift_of_a_long_run_is_found),
        cmocka_unit_test(numbers_that_are_none_are_left_out),
        cmocka_unit_test(interval_covers_the_median),
        cmocka_unit_test(student_is_as_tabulated),
        cmocka_unit_test(figures_scale_and_stay_in_range),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
