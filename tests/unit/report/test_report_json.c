/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "sample_run.h"

static struct arena arena;
static struct evidence run;
static json_t *report;

/* The sample stays in the build folder, for whoever checks it against
 * configs/schema/report.schema.json. */
static const char file[] = "sample_report.json";

static int start(void **state)
{
    (void)state;
    arena_init(&arena, 64 << 20);
    sample_run(&run, &arena);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    json_decref(report);
    report = NULL;
    arena_clear(&arena);
    return 0;
}

static void write_report(void)
{
    struct verdicts verdicts;
    struct error err = { 0 };
    const struct report_input input = { .evidence = &run,
        .verdicts = &verdicts };

    if (judge_run(&run, &arena, &verdicts, &err) < 0 ||
        report_write(report_find("json"), &input, file, &err) < 0) {
        fail_msg("%s", err.text);
    }
    report = json_load_file(file, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(report);
}

static const json_t *cell(size_t unit, size_t at)
{
    const json_t *const units = json_object_get(report, "units");

    return json_array_get(
        json_object_get(json_array_get(units, unit), "cells"), at);
}

static const char *text_of(const json_t *json, const char *name)
{
    return json_string_value(json_object_get(json, name));
}

static double number_of(const json_t *json, const char *name)
{
    return json_number_value(json_object_get(json, name));
}

static void numbers_are_numbers(void **state)
{
    (void)state;
    write_report();
    assert_string_equal(text_of(report, "schema"), "nvbw-report");
    assert_string_equal(text_of(report, "verdict"), "PASSED");
    assert_true(json_is_false(json_object_get(report, "simulated")));
    assert_int_equal(number_of(report, "exit_code"), 0);
    assert_string_equal(text_of(cell(0, 1), "state"), "pass");
    assert_string_equal(text_of(cell(0, 1), "col_label"), "GPU 1");
    assert_true(number_of(cell(0, 1), "figure") > 55.4e9);
    assert_int_equal(
        json_array_size(json_object_get(cell(0, 1), "samples")), 8);
    assert_int_equal(json_array_size(json_object_get(cell(0, 1), "flows")), 1);
    assert_string_equal(text_of(json_object_get(cell(0, 1), "limit"), "text"),
        "95 % of expected");
    assert_int_equal(
        number_of(json_object_get(cell(0, 1), "limit"), "line"), 12);
}

static void the_absent_is_null_with_a_reason(void **state)
{
    (void)state;
    sample_closed_unit(
        &run, &arena, "fabric", STATE_SKIP, "no_nvlink", "none is fitted");
    write_report();
    assert_true(json_is_null(json_object_get(cell(3, 0), "figure")));
    assert_true(json_is_null(json_object_get(cell(3, 0), "limit")));
    assert_string_equal(text_of(cell(3, 0), "reason"), "no_nvlink");
    assert_string_equal(text_of(cell(3, 0), "message"), "none is fitted");
    assert_string_equal(text_of(report, "verdict"), "INCOMPLETE");
}

static void counts_add_up(void **state)
{
    const json_t *counts = NULL;
    const char *name = NULL;
    json_t *value = NULL;
    json_int_t sum = 0;

    (void)state;
    sample_state(&run, &arena, 0, 0, 0, STATE_TIMEOUT, NULL, NULL);
    write_report();
    counts = json_object_get(report, "counts");
    json_object_foreach((json_t *)counts, name, value)
    {
        sum += strcmp(name, "planned") == 0 ? 0 : json_integer_value(value);
    }
    assert_int_equal(sum, 6);
    assert_int_equal(number_of(counts, "planned"), 6);
    assert_int_equal(number_of(counts, "timeout"), 1);
}

static void what_is_no_text_does_not_stop_a_report(void **state)
{
    (void)state;
    run.facts.simulated = 1;
    sample_state(&run, &arena, 0, 0, 0, STATE_ERROR, "plugin", "bad \xff byte");
    write_report();
    assert_string_equal(text_of(cell(0, 0), "message"), "bad ? byte");
    assert_true(json_is_true(json_object_get(report, "simulated")));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(numbers_are_numbers),
        TEST(the_absent_is_null_with_a_reason),
        TEST(counts_add_up),
        TEST(what_is_no_text_does_not_stop_a_report),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
