/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plan.h"
#include "standard_types.h"

#define VALUE(text)                                                            \
    (const char *[])                                                           \
    {                                                                          \
        text                                                                   \
    }
#define PARAM(name_, text)                                                     \
    {                                                                          \
        .name = (name_), .values = VALUE(text), .values_count = 1              \
    }

static void test_values(void **state)
{
    struct unit_param params[] = {
        PARAM("mode", "fixed"),
        PARAM("buffer_size", "64 MiB"),
        PARAM("copies", "4"),
        PARAM("samples", "3"),
        PARAM("precision", "1 %"),
        PARAM("verify", "off"),
        PARAM("seed", "99"),
        PARAM("chase", "random"),
    };
    const struct unit unit = { .params = params,
        .params_count = sizeof params / sizeof params[0] };
    struct measure_params out;

    (void)state;
    assert_int_equal(measure_params_parse(&unit, &out, NULL), NVBW_OK);
    assert_int_equal(out.fixed, 1);
    assert_int_equal(out.buffer_bytes, 64 << 20);
    assert_int_equal(out.copies, 4);
    assert_int_equal(out.samples, 3);
    assert_true(out.precision > 0.0099 && out.precision < 0.0101);
    assert_int_equal(out.verify, 0);
    assert_int_equal(out.gate, 1);
    assert_int_equal(out.seed, 99);
    assert_int_equal(out.chase_random, 1);
}

static void test_refuses(void **state)
{
    struct unit_param rows[][2] = {
        { PARAM("copies", "0"), PARAM("samples", "1") },
        { PARAM("copies", "-1"), PARAM("samples", "1") },
        { PARAM("samples", "many"), PARAM("copies", "1") },
        { PARAM("min_samples", "9"), PARAM("max_samples", "8") },
        { PARAM("mode", "quick"), PARAM("copies", "1") },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct unit unit = { .params = rows[i], .params_count = 2 };
        struct measure_params out;

        if (measure_params_parse(&unit, &out, NULL) != NVBW_E_INVALID) {
            fail_msg("row %zu was taken", i);
        }
    }
}

/* Of ladders the host makes sizes, so a worker has no other. */
static uint32_t type_in_worker(const struct param_schema *param)
{
    return strcmp(param->name, "sizes") == 0 ? NVBW_TYPE_SIZE : param->type;
}

/* The runtime's types of the standard parameters are the host's, in both
 * directions of a choice's index. */
static void test_types_agree(void **state)
{
    (void)state;
    for (const struct param_schema *at = standard_params; at->name != NULL;
         at++) {
        const struct param_schema *const type = standard_type(at->name);

        if (type == NULL || type->type != type_in_worker(at) ||
            type->choices_count != at->choices_count ||
            (at->type == NVBW_TYPE_REAL && type->unit != at->unit)) {
            fail_msg("parameter %s differs", at->name);
            return;
        }
        for (uint32_t i = 0; i < at->choices_count; i++) {
            assert_string_equal(type->choices[i], at->choices[i]);
        }
    }
}

/* The host's defaults make a good set. */
static void test_defaults(void **state)
{
    struct unit_param params[64];
    struct unit unit = { .params = params };
    struct measure_params out;
    struct error err = { 0 };

    (void)state;
    for (uint32_t i = 0; standard_params[i].name != NULL; i++) {
        params[i] = (struct unit_param){ .name = standard_params[i].name,
            .values = (const char **)&standard_params[i].default_text,
            .values_count = 1 };
        unit.params_count = i + 1;
    }
    if (measure_params_parse(&unit, &out, &err) != NVBW_OK) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(out.fixed, 0);
    assert_int_equal(out.verify, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_types_agree),
        cmocka_unit_test(test_defaults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
