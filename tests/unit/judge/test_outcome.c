/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* The table of docs/results.md, line by line. */
static const struct {
    uint32_t state;
    const char *reason;
    int has_limit;
    int32_t yes, if_possible, no;
} rows[] = {
    { STATE_PASS, NULL, 1, 0, 0, 0 },
    { STATE_WARN, "warn_band", 1, 0, 0, 0 },
    { STATE_UNCHECKED, "no_limit", 0, 0, 0, 0 },
    { STATE_UNCHECKED, "no_base", 1, 4, 0, 0 },
    { STATE_FAIL, "limit", 1, 1, 1, 0 },
    { STATE_MISMATCH, "wrong_data", 0, 1, 1, 0 },
    { STATE_INVALID, "throttled", 0, 3, 3, 0 },
    { STATE_INVALID, "clock", 0, 4, 4, 0 },
    { STATE_INVALID, "above_limit", 1, 4, 4, 0 },
    { STATE_SKIP, "no_device", 0, 4, 0, 0 },
    { STATE_SKIP, "too_few_devices", 0, 4, 0, 0 },
    { STATE_SKIP, "no_peer_access", 0, 4, 0, 0 },
    { STATE_SKIP, "no_nvlink", 0, 4, 0, 0 },
    { STATE_SKIP, "no_multicast", 0, 4, 0, 0 },
    { STATE_SKIP, "no_fabric", 0, 4, 0, 0 },
    { STATE_SKIP, "no_mpi", 0, 4, 0, 0 },
    { STATE_SKIP, "arch_too_old", 0, 4, 0, 0 },
    { STATE_SKIP, "not_built", 0, 4, 0, 0 },
    { STATE_SKIP, "missing_library", 0, 4, 0, 0 },
    { STATE_SKIP, "mig", 0, 4, 0, 0 },
    { STATE_SKIP, "excluded", 0, 4, 0, 0 },
    { STATE_SKIP, "driver_too_old", 0, 4, 4, 0 },
    { STATE_SKIP, "memory", 0, 4, 4, 0 },
    { STATE_SKIP, "permission", 0, 4, 4, 0 },
    { STATE_SKIP, "no_imex_channel", 0, 4, 4, 0 },
    { STATE_SKIP, "peer_not_visible", 0, 4, 4, 0 },
    { STATE_SKIP, "multicast_disabled", 0, 4, 4, 0 },
    { STATE_SKIP, "confidential_computing", 0, 4, 4, 0 },
    { STATE_SKIP, "unheard_of", 0, 4, 4, 0 },
    { STATE_ERROR, "driver", 0, 4, 4, 0 },
    { STATE_ERROR, NULL, 0, 4, 4, 0 },
    { STATE_ERROR, "contract", 0, 5, 5, 0 },
    { STATE_ERROR, "protocol", 0, 5, 5, 0 },
    { STATE_ERROR, "refused", 0, 5, 5, 0 },
    { STATE_CRASH, NULL, 0, 4, 4, 0 },
    { STATE_TIMEOUT, NULL, 0, 4, 4, 0 },
    { STATE_CANCELLED, NULL, 0, 4, 4, 0 },
    { STATE_NOT_RUN, "budget", 0, 4, 4, 0 },
    { STATE_BLOCKED, "tainted", 0, 3, 3, 0 },
};

static void the_table_is_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const int limit = rows[i].has_limit;

        assert_int_equal(
            outcome_of_cell(rows[i].state, rows[i].reason, "yes", limit),
            rows[i].yes);
        assert_int_equal(outcome_of_cell(rows[i].state, rows[i].reason,
                             "if_possible", limit),
            rows[i].if_possible);
        assert_int_equal(
            outcome_of_cell(rows[i].state, rows[i].reason, "no", limit),
            rows[i].no);
        assert_int_equal(
            outcome_of_cell(rows[i].state, rows[i].reason, NULL, limit),
            rows[i].yes);
    }
}

static void every_state_has_a_row(void **state)
{
    (void)state;
    for (uint32_t i = STATE_SKIP; i < STATE_COUNT; i++) {
        assert_int_equal(outcome_of_cell(i, NULL, "no", 0), 0);
    }
    assert_int_equal(outcome_of_cell(STATE_MEASURED, NULL, "no", 0), 4);
    assert_int_equal(outcome_of_cell(STATE_NONE, NULL, "no", 0), 4);
}

static void the_gravest_wins(void **state)
{
    static const int32_t order[] = { 3, 5, 4, 1, 0 };

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        for (size_t k = i; k < 5; k++) {
            assert_int_equal(outcome_worse(order[i], order[k]), order[i]);
            assert_int_equal(outcome_worse(order[k], order[i]), order[i]);
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_kept),
        cmocka_unit_test(every_state_has_a_row),
        cmocka_unit_test(the_gravest_wins),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
