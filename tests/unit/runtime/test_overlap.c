/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* When a flow counts as having begun late. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cuda_session.h"

static void a_steady_flow_is_in_time(void **state)
{
    (void)state;
    assert_false(overlap_is_late(1e-3, 3e-3, 4));
    assert_false(overlap_is_late(1e-3, 1e-3, 2));
    assert_false(overlap_is_late(5e-3, 995e-3, 200));
}

static void one_after_another_is_late(void **state)
{
    (void)state;
    /* Behind a flow of the same length, and behind all but its last copy. */
    assert_true(overlap_is_late(5e-3, 3e-3, 4));
    assert_true(overlap_is_late(4e-3, 3e-3, 4));
    assert_true(overlap_is_late(1005e-3, 995e-3, 200));
}

static void sharing_fairly_is_not(void **state)
{
    (void)state;
    /* Half the rate while the other flow runs, which ends with the first of
     * four copies. */
    assert_false(overlap_is_late(2e-3, 3e-3, 4));
}

static void short_flows_are_forgiven_a_start(void **state)
{
    (void)state;
    assert_false(overlap_is_late(60e-6, 9e-6, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_steady_flow_is_in_time),
        cmocka_unit_test(one_after_another_is_late),
        cmocka_unit_test(sharing_fairly_is_not),
        cmocka_unit_test(short_flows_are_forgiven_a_start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
