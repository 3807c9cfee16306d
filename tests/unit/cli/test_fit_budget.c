/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "fit_budget.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "state.h"

/* A cell is a second, a latency ten; half of it goes with the samples. */
static const struct cost_model model = { .start = 10.0,
    .cell = 1.0,
    .peer = 1.0,
    .host = 100.0,
    .latency = 10.0,
    .random = 50.0,
    .per_sample = 0.5,
    .fixed = 0.2 };

static struct arena arena;
static const char *adaptive[] = { "adaptive" };
static const char *fixed[] = { "fixed" };
static const char *fifteen[] = { "15" };
static const char *eight[] = { "8" };

/* A host testcase of 8 cells, a matrix of 8 GPUs in two metrics, and a
 * testcase that is skipped anyway. */
static struct unit_shape row = { .metric = "bandwidth",
    .unit = NVBW_UNIT_BYTES_PER_SECOND,
    .rows = 1,
    .cols = 8 };
static struct unit_shape pairs[2];
static struct unit_param params[2][4];
static struct unit units[3];
static struct schedule schedule = { .units = units, .units_count = 3 };

static int start(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 20);
    for (int i = 0; i < 2; i++) {
        pairs[i] = (struct unit_shape){ .metric = i == 0 ? "forward" : "total",
            .unit = NVBW_UNIT_BYTES_PER_SECOND,
            .rows = 8,
            .cols = 8,
            .pairs = 1 };
        params[i][0] = (struct unit_param){ "mode", adaptive, 1 };
        params[i][1] = (struct unit_param){ "max_samples", fifteen, 1 };
        params[i][2] = (struct unit_param){ "min_samples", eight, 1 };
        params[i][3] = (struct unit_param){ "samples", fifteen, 1 };
        units[i] = (struct unit){ .params = params[i], .params_count = 4 };
    }
    units[0].shapes = &row;
    units[0].shapes_count = 1;
    units[1].shapes = pairs;
    units[1].shapes_count = 2;
    units[2] = units[1];
    units[2].state = STATE_SKIP;
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_clear(&arena);
    return 0;
}

static struct fit fit_into(uint64_t seconds)
{
    struct fit fit;

    fit_budget(&schedule, seconds * 1000000000U, &model, &fit);
    return fit;
}

static const char *words_of(const struct fit *fit, uint64_t seconds)
{
    return fit_words(fit, seconds * 1000000000U, &arena);
}

static void what_fits_is_left_alone(void **state)
{
    const struct fit fit = fit_into(75);

    (void)state;
    assert_true(fabs(fit.before - (10 + 8 + 56)) < 1e-9);
    assert_int_equal(fit.samples, 0);
    assert_int_equal(fit.pairs, 0);
    assert_null(words_of(&fit, 75));
}

static void samples_go_first(void **state)
{
    /* 64 cells at 0.5 + 0.5 x 8/15. */
    const struct fit fit = fit_into(62);

    (void)state;
    assert_int_equal(fit.samples, FIT_SAMPLES_LEAST);
    assert_int_equal(fit.pairs, 0);
    assert_true(fabs(fit.after - (10 + 64 * (0.5 + 4.0 / 15))) < 1e-9);
    assert_string_equal(words_of(&fit, 62),
        "the budget is 62 s and the plan takes about 74 s, at most 8 samples a "
        "cell");
}

static void then_pairs_as_many_as_fit(void **state)
{
    const struct fit fit = fit_into(40);
    const double cell = 0.5 + 4.0 / 15;

    (void)state;
    assert_int_equal(fit.pairs, (int)((30 - 8 * cell) / cell));
    assert_int_equal(fit.all_pairs, 56);
    assert_true(fit.after <= 40.0);
    assert_non_null(strstr(words_of(&fit, 40), "31 of 56 pairs of GPUs"));
}

/* Never fewer pairs than GPUs, and then it says what will happen. */
static void too_little_is_told(void **state)
{
    const struct fit fit = fit_into(12);

    (void)state;
    assert_int_equal(fit.pairs, 8);
    assert_true(fit.after > 12.0);
    assert_non_null(
        strstr(words_of(&fit, 12), "what is not reached will be not_run"));
}

/* Fixed mode keeps what was asked for. */
static void only_adaptive_units_get_fewer_samples(void **state)
{
    struct error err = { 0 };
    struct fit fit;

    (void)state;
    params[0][0].values = fixed;
    fit = fit_into(40);
    assert_int_equal(fit_apply(&fit, &schedule, &arena, &err), NVBW_OK);
    assert_string_equal(params[0][1].values[0], "15");
    assert_string_equal(params[1][1].values[0], "8");
    assert_string_equal(fifteen[0], "15");
}

static void latencies_cost_more(void **state)
{
    const struct fit before = fit_into(1000);

    (void)state;
    row.unit = NVBW_UNIT_NANOSECONDS;
    assert_true(fabs(fit_into(1000).before - before.before - 8 * 9) < 1e-9);
    row.unit = NVBW_UNIT_BYTES_PER_SECOND;
}

static double estimate(void)
{
    return fit_estimate(&schedule, &model);
}

static void each_kind_of_cell_has_its_cost(void **state)
{
    static const char *random_order[] = { "random" };
    const double before = estimate();

    (void)state;
    assert_true(fabs(before - (10 + 8 + 56)) < 1e-9);
    row.row_axis = "numa";
    assert_true(fabs(estimate() - before - 8 * 99) < 1e-9);
    row.row_axis = NULL;
    row.unit = NVBW_UNIT_NANOSECONDS;
    params[0][3] = (struct unit_param){ "chase", random_order, 1 };
    assert_true(fabs(estimate() - before - 8 * 49) < 1e-9);
    row.unit = NVBW_UNIT_BYTES_PER_SECOND;
    /* 15 samples of a cell that takes 0.2 with three. */
    params[0][0].values = fixed;
    params[0][3] = (struct unit_param){ "samples", fifteen, 1 };
    assert_true(fabs(estimate() - before) < 1e-9);
    params[0][3].values = eight;
    assert_true(fabs(estimate() - before + 8 * (1 - 0.2 * 8 / 3)) < 1e-9);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(what_fits_is_left_alone),
        TEST(samples_go_first),
        TEST(then_pairs_as_many_as_fit),
        TEST(too_little_is_told),
        TEST(only_adaptive_units_get_fewer_samples),
        TEST(latencies_cost_more),
        TEST(each_kind_of_cell_has_its_cost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
