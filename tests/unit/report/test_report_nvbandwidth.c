/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "nvbandwidth_view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "sample_run.h"

static struct arena arena;
static struct evidence run;
static struct verdicts verdicts;
static struct strbuf text;

static int start(void **state)
{
    (void)state;
    arena_init(&arena, 64 << 20);
    strbuf_init(&text, 1 << 20);
    sample_run(&run, &arena);
    run.facts.gpus[1].device = 1;
    return 0;
}

static int stop(void **state)
{
    (void)state;
    strbuf_free(&text);
    arena_clear(&arena);
    return 0;
}

static struct report_input judged(void)
{
    struct error err = { 0 };

    if (judge_run(&run, &arena, &verdicts, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return (struct report_input){ .evidence = &run, .verdicts = &verdicts };
}

static void write_report(const char *format)
{
    const struct report_input input = judged();
    struct error err = { 0 };

    strbuf_reset(&text);
    if (report_find(format)->write(&input, &text, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

static void assert_has(const char *part)
{
    if (strstr(text.text, part) == NULL) {
        fail_msg("\"%s\" is not in:\n%s", part, text.text);
    }
}

/* Sets the plan's group `nvbandwidth`. */
static void set_style(const char *name, const char *value)
{
    const char **const texts = arena_alloc(&arena, 1, sizeof *texts);
    struct plan_value *const list = arena_append(&arena, run.plan.nvbandwidth,
        &run.plan.nvbandwidth_count, sizeof *list);

    texts[0] = value;
    list[run.plan.nvbandwidth_count - 1] =
        (struct plan_value){ .name = name, .texts = texts, .texts_count = 1 };
    run.plan.nvbandwidth = list;
}

static void a_simulated_run_says_so(void **state)
{
    (void)state;
    run.facts.simulated = 1;
    run.facts.profile = "h200_x2";
    write_report("nvbandwidth");
    assert_has("Built from Git version: nvbw-host 0.1.0 (test) (SIMULATED, "
               "profile h200_x2)\n\n");
    assert_has("SIMULATED: no figure here was measured on hardware.\n");
    write_report("nvbandwidth-json");
    assert_has("\"simulated\": true");
}

static void layout_is_nvbandwidths(void **state)
{
    (void)state;
    write_report("nvbandwidth");
    assert_has("nvbandwidth Version: v0.10.0\n"
               "Built from Git version: nvbw-host 0.1.0 (test)\n\n"
               "CUDA Runtime Version: 13.0 (13000)\n"
               "CUDA Driver Version (API): 13.0 (13000)\n"
               "Driver Version: 580.159.04\n\nnode17\n");
    assert_has("\nRunning host_to_device_memcpy_ce.\n"
               "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n"
               "           0         1\n"
               " 0     55.44     55.47\n\n"
               "SUM host_to_device_memcpy_ce 110.91\n"
               "COEFFICIENT_OF_VARIATION host_to_device_memcpy_ce 0.00\n\n");
    assert_has("memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)\n"
               "           0         1\n"
               " 0       N/A    396.40\n"
               " 1    396.30       N/A\n\n"
               "SUM device_to_device_memcpy_write_ce 792.70\n");
}

/* One column becomes a row, as nvbandwidth has it. */
static void column_is_turned(void **state)
{
    (void)state;
    write_report("nvbandwidth");
    assert_has("memory latency SM CPU(row) <-> GPU(column) (ns)\n"
               "           0         1\n"
               " 0   1198.00   1201.50\n\n"
               "SUM host_device_latency_sm 2399.50\n");
}

static void style_follows_the_plan(void **state)
{
    (void)state;
    set_style("version", "0.8");
    set_style("perf", "true");
    set_style("verbose", "true");
    write_report("nvbandwidth");
    assert_has("nvbandwidth Version: v0.8\n");
    assert_has("CUDA Runtime Version: 13000\nCUDA Driver Version: 13000\n");
    assert_has("&&&& PERF host_to_device_memcpy_ce 110.91 +GB/s\n"
               "MIN host_to_device_memcpy_ce 55.44\n"
               "MAX host_to_device_memcpy_ce 55.47\n"
               "AVG host_to_device_memcpy_ce 55.45\n\n");
    assert_has("&&&& PERF host_device_latency_sm 2399.50 -ns\n");
    assert_has("\tSample 0: Host -> Device 1: ");
    assert_null(strstr(text.text, "COEFFICIENT"));
    assert_null(strstr(text.text, "SUM "));
}

static void mean_is_the_mean(void **state)
{
    struct nvbandwidth_case at = { 0 };
    struct nvbandwidth_matrix matrix;
    const struct nvbandwidth_style mean = { .mean = 1 };
    const struct nvbandwidth_style median = { 0 };
    struct verdict cell = { .figure = 2e9, .stats = { .mean = 3e9 } };
    const struct report_input input = judged();

    (void)state;
    assert_true(nvbandwidth_case_next(&input, &at));
    assert_true(nvbandwidth_matrix_at(&at, 0, &matrix));
    assert_true(nvbandwidth_figure(&at, &matrix, &cell, &median) == 2.0);
    assert_true(nvbandwidth_figure(&at, &matrix, &cell, &mean) == 3.0);
}

static void failures_have_names_and_reasons(void **state)
{
    (void)state;
    sample_state(&run, &arena, SAMPLE_PEER, 0, 1, STATE_MISMATCH, "wrong_data",
        "3 words are wrong");
    sample_closed_unit(&run, &arena, "all_to_host_memcpy_ce", STATE_SKIP,
        "too_few_devices", "needs 4 GPUs");
    sample_closed_unit(
        &run, &arena, "nope", STATE_ERROR, "not_found", "there is none");
    write_report("nvbandwidth");
    assert_has(" 0       N/A       N/A\n 1    396.30       N/A\n");
    assert_has("Error: device_to_device_memcpy_write_ce: 1 of 2 cells mismatch "
               "(wrong_data): 3 words are wrong\n");
    assert_has("Waived: all_to_host_memcpy_ce: skip (too_few_devices): needs 4 "
               "GPUs\n");
    assert_has("ERROR: Testcase nope not found!\n");
    assert_has("2 passed, 1 waived, 2 failed or not found.\n");
    assert_null(strstr(text.text, "Running all_to_host"));
}

static const json_t *case_of(const json_t *root, size_t at)
{
    return json_array_get(
        json_object_get(json_object_get(root, "nvbandwidth"), "testcases"), at);
}

static const char *status_of(const json_t *root, size_t at)
{
    return json_string_value(json_object_get(case_of(root, at), "status"));
}

static void json_is_nvbandwidths(void **state)
{
    (void)state;
    sample_closed_unit(&run, &arena, "all_to_host_memcpy_ce", STATE_SKIP,
        "too_few_devices", "needs 4 GPUs");
    sample_closed_unit(
        &run, &arena, "nope", STATE_ERROR, "not_found", "there is none");
    sample_closed_unit(
        &run, &arena, "broken", STATE_ERROR, "driver", "it broke");
    write_report("nvbandwidth-json");
    assert_memory_equal(text.text, "{\n", 2);
    assert_string_equal(text.text + text.length - 3, "\n}\n");

    json_t *const root = json_loads(text.text, JSON_REJECT_DUPLICATES, NULL);
    const json_t *const first = case_of(root, 0);
    const json_t *const matrix = json_object_get(first, "bandwidth_matrix");

    assert_string_equal(
        json_string_value(json_array_get(json_array_get(matrix, 0), 1)),
        "55.47");
    assert_true(json_is_real(json_object_get(first, "sum")));
    assert_string_equal(status_of(root, 0), "Passed");
    assert_string_equal(status_of(root, 3), "Waived");
    assert_string_equal(status_of(root, 4), "Not Found");
    assert_string_equal(status_of(root, 5), "Error");
    assert_string_equal(
        json_string_value(json_object_get(case_of(root, 5), "error")),
        "error (driver): it broke");
    json_decref(root);
}

/* A testcase that nvbandwidth does not have shows all it has. */
static void unknown_testcase_has_a_heading(void **state)
{
    (void)state;
    run.units[SAMPLE_H2D].testcase = "vendor_copy";
    write_report("nvbandwidth");
    assert_has("Running vendor_copy.\nbandwidth (GB/s)\n");
    assert_has("SUM vendor_copy 110.91\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_simulated_run_says_so, start, stop),
        cmocka_unit_test_setup_teardown(layout_is_nvbandwidths, start, stop),
        cmocka_unit_test_setup_teardown(column_is_turned, start, stop),
        cmocka_unit_test_setup_teardown(style_follows_the_plan, start, stop),
        cmocka_unit_test_setup_teardown(mean_is_the_mean, start, stop),
        cmocka_unit_test_setup_teardown(
            failures_have_names_and_reasons, start, stop),
        cmocka_unit_test_setup_teardown(json_is_nvbandwidths, start, stop),
        cmocka_unit_test_setup_teardown(
            unknown_testcase_has_a_heading, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
