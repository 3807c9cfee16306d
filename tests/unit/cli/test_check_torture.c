/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Which calls of the host are made to fail (rule C27). */
#include "check_torture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void expect_calls(uint32_t calls, uint32_t wanted, uint32_t last)
{
    uint32_t list[TORTURE_LIMIT];

    assert_int_equal(check_torture_calls(calls, list), wanted);
    for (uint32_t i = 0; i < wanted; i++) {
        assert_in_range(list[i], i == 0 ? 1 : list[i - 1] + 1, calls);
    }
    if (wanted > 0) {
        assert_int_equal(list[0], 1);
        assert_int_equal(list[wanted - 1], last);
    }
}

static void test_calls(void **state)
{
    (void)state;
    expect_calls(0, 0, 0);
    expect_calls(1, 1, 1);
    expect_calls(TORTURE_FIRST, TORTURE_FIRST, TORTURE_FIRST);
    expect_calls(TORTURE_FIRST + 1, TORTURE_FIRST + 1, TORTURE_FIRST + 1);
    expect_calls(TORTURE_LIMIT, TORTURE_LIMIT, TORTURE_LIMIT);
    expect_calls(100000, TORTURE_LIMIT, 100000);
    expect_calls(UINT32_MAX, TORTURE_LIMIT, UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
