/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *suggest(
    const char *name, const char *const *known, char *out)
{
    struct nearest nearest;

    nearest_begin(&nearest, name);
    for (; *known != NULL; known++) {
        nearest_offer(&nearest, *known);
    }
    return nearest_hint(&nearest, out);
}

static void test_distance(void **state)
{
    (void)state;
    assert_int_equal(nearest_distance("", ""), 0);
    assert_int_equal(nearest_distance("abc", ""), 3);
    assert_int_equal(nearest_distance("kitten", "sitting"), 3);
    assert_int_equal(nearest_distance("buffer_szie", "buffer_size"), 1);
    assert_int_equal(nearest_distance("Mode", "mode"), 0);
    assert_int_equal(nearest_distance("0123456789012345678901234567890123456789"
                                      "012345678901234567890123",
                         "x"),
        UINT32_MAX);
}

static void test_hint(void **state)
{
    static const char *const known[] = { "buffer_size", "samples",
        "max_samples", "mode", "gate", NULL };
    char out[NEAREST_HINT_BYTES];

    (void)state;
    assert_string_equal(
        suggest("bufer_size", known, out), ", did you mean \"buffer_size\"");
    assert_string_equal(
        suggest("sample", known, out), ", did you mean \"samples\"");
    assert_string_equal(suggest("mod", known, out), ", did you mean \"mode\"");
    assert_string_equal(suggest("zebra", known, out), "");
    assert_string_equal(suggest("", known, out), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distance),
        cmocka_unit_test(test_hint),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
