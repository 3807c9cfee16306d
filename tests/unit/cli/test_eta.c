/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "eta.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fit_budget.h"
#include "state.h"
#include "unit.h"

/* Host memory is dear and comes first, pairs are cheap and many. */
static const struct cost_model model = { .peer = 0.1, .host = 10.0 };

static const char *adaptive[] = { "adaptive" };
static struct unit_param params[] = { { "mode", adaptive, 1 } };
static struct unit_shape host = { .metric = "bandwidth",
    .unit = NVBW_UNIT_BYTES_PER_SECOND,
    .rows = 2,
    .cols = 2,
    .row_axis = "numa",
    .col_axis = "numa" };
static struct unit_shape pairs = { .metric = "bandwidth",
    .unit = NVBW_UNIT_BYTES_PER_SECOND,
    .rows = 21,
    .cols = 21,
    .pairs = 1 };
static struct unit dear = {
    .params = params, .params_count = 1, .shapes = &host, .shapes_count = 1
};
static struct unit cheap = {
    .params = params, .params_count = 1, .shapes = &pairs, .shapes_count = 1
};

static void assert_near(double got, double wanted)
{
    assert_true(fabs(got - wanted) < 1e-6);
}

static struct eta both(void)
{
    struct eta eta = { 0 };

    eta_add_unit(&eta, &dear, &model);
    eta_add_unit(&eta, &cheap, &model);
    return eta;
}

static void test_model_is_believed_first(void **state)
{
    const struct eta eta = both();

    (void)state;
    assert_near(eta_left(&eta, 0.0), 40.0 + 42.0);
}

/* Four of 424 cells took half of the time, as was expected of them. */
static void test_dear_cells_do_not_count_for_cheap_ones(void **state)
{
    struct eta eta = both();

    (void)state;
    for (int i = 0; i < 4; i++) {
        eta_settle_cell(&eta, &dear, &model, 1);
    }
    assert_near(eta_left(&eta, 40.0), 42.0);
}

/* Three times what the model says, of which ten seconds are the belief. */
static void test_slow_machine(void **state)
{
    struct eta eta = both();

    (void)state;
    for (int i = 0; i < 4; i++) {
        eta_settle_cell(&eta, &dear, &model, 1);
    }
    assert_near(eta_left(&eta, 120.0), 42.0 * 130.0 / 50.0);
}

/* A matrix that is skipped cell by cell says nothing of the pace. */
static void test_what_is_not_measured(void **state)
{
    struct eta eta = both();

    (void)state;
    for (int i = 0; i < 420; i++) {
        eta_settle_cell(&eta, &cheap, &model, 0);
    }
    assert_near(eta_left(&eta, 0.0), 40.0);
    for (int i = 0; i < 4; i++) {
        eta_settle_cell(&eta, &dear, &model, 1);
    }
    assert_true(eta_left(&eta, 40.0) < 1e-6);
}

/* A unit that will not run is no work. */
static void test_skipped_unit(void **state)
{
    struct unit skipped = dear;
    struct eta eta = { 0 };

    (void)state;
    skipped.state = STATE_SKIP;
    eta_add_unit(&eta, &skipped, &model);
    eta_settle_cell(&eta, &skipped, &model, 0);
    assert_near(eta_left(&eta, 5.0), 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_is_believed_first),
        cmocka_unit_test(test_dear_cells_do_not_count_for_cheap_ones),
        cmocka_unit_test(test_slow_machine),
        cmocka_unit_test(test_what_is_not_measured),
        cmocka_unit_test(test_skipped_unit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
