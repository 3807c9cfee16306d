/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "plan.h"
#include "quantity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_defaults_are_valid(void **state)
{
    (void)state;
    for (const struct param_schema *at = standard_params; at->name != NULL;
         at++) {
        struct quantity_value value;
        struct error err = { 0 };

        assert_non_null(at->help);
        assert_non_null(at->default_text);
        assert_int_equal(at->choices_count, at->choices_help_count);
        if (quantity_param(at, at->default_text, &value, &err) < 0) {
            fail_msg("%s", err.text);
        }
    }
}

static void test_known_defaults(void **state)
{
    (void)state;
    assert_string_equal(standard_param("mode")->default_text, "adaptive");
    assert_string_equal(standard_param("copies")->default_text, "16");
    assert_string_equal(standard_param("samples")->default_text, "3");
    assert_string_equal(standard_param("warmup")->default_text, "4");
    assert_string_equal(standard_param("timeout")->default_text, "60 s");
    assert_string_equal(standard_param("min_samples")->min_text, "6");
    assert_null(standard_param("bufsize"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_are_valid),
        cmocka_unit_test(test_known_defaults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
