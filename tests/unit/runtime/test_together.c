/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "together.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

static void expect(const struct stamp *one, uint64_t one_count,
    const struct stamp *other, uint64_t other_count, uint64_t overlap)
{
    assert_int_equal(
        together_overlap(one, one_count, other, other_count), overlap);
    assert_int_equal(
        together_overlap(other, other_count, one, one_count), overlap);
}

static void busy_is_the_sum_of_copies(void **state)
{
    const struct stamp flow[] = { { 10, 20 }, { 25, 30 }, { 0, 0 } };

    (void)state;
    assert_int_equal(together_busy(flow, COUNT(flow)), 15);
    assert_int_equal(together_busy(flow, 0), 0);
}

static void side_by_side(void **state)
{
    const struct stamp one[] = { { 10, 20 }, { 20, 30 }, { 30, 40 } };
    const struct stamp other[] = { { 12, 27 }, { 28, 50 } };

    (void)state;
    expect(one, COUNT(one), other, COUNT(other), 8 + 7 + 2 + 10);
}

static void one_after_another(void **state)
{
    const struct stamp one[] = { { 10, 20 }, { 20, 30 } };
    const struct stamp other[] = { { 30, 40 }, { 40, 50 } };

    (void)state;
    expect(one, COUNT(one), other, COUNT(other), 0);
}

/* Seen as wholes these overlap, copy by copy they do not. */
static void in_turns(void **state)
{
    const struct stamp one[] = { { 10, 20 }, { 30, 40 }, { 50, 60 } };
    const struct stamp other[] = { { 20, 30 }, { 40, 50 }, { 60, 70 } };

    (void)state;
    expect(one, COUNT(one), other, COUNT(other), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(busy_is_the_sum_of_copies),
        cmocka_unit_test(side_by_side),
        cmocka_unit_test(one_after_another),
        cmocka_unit_test(in_turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
