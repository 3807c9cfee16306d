/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "evidence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "state.h"

static struct arena arena;
static struct evidence evidence;

static int start(void **state)
{
    (void)state;
    arena_init(&arena, 256 << 20);
    evidence = (struct evidence){ 0 };
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_clear(&arena);
    return 0;
}

static void add(uint32_t type, const void *object)
{
    struct error err = { 0 };

    if (evidence_add(&evidence, &arena, type, object, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

static void add_unit(uint32_t id, uint32_t rows, uint32_t cols)
{
    struct unit_shape shapes[] = {
        { .metric = "bandwidth", .rows = rows, .cols = cols },
        { .metric = "latency", .rows = 1, .cols = cols },
    };
    const struct unit unit = { .id = id,
        .plugin = "null",
        .testcase = "nothing",
        .shapes = shapes,
        .shapes_count = 2 };

    add(LINE_UNIT, &unit);
}

static void add_record(uint32_t unit, const char *metric, uint32_t row,
    uint32_t col, uint32_t attempt, int64_t code)
{
    struct record record;

    record_init(&record);
    record.unit = unit;
    record.metric = metric;
    record.row = row;
    record.col = col;
    record.attempt = attempt;
    record.code = code;
    record.state = STATE_MEASURED;
    add(LINE_CELL, &record);
}

static int64_t code_at(
    uint32_t unit, const char *metric, uint32_t row, uint32_t col)
{
    const struct record *const record =
        evidence_cell(&evidence, unit, metric, row, col);

    return record == NULL ? -1 : record->code;
}

static void the_last_of_the_highest_attempt_counts(void **state)
{
    (void)state;
    add_unit(0, 2, 2);
    add_record(0, "bandwidth", 0, 1, 0, 10);
    add_record(0, "bandwidth", 1, 1, 0, 11);
    add_record(0, "bandwidth", 0, 1, 2, 12);
    add_record(0, "bandwidth", 0, 1, 2, 13);
    add_record(0, "bandwidth", 0, 1, 1, 14);
    add_record(0, "latency", 0, 1, 0, 15);
    assert_int_equal(code_at(0, "bandwidth", 0, 1), 13);
    assert_int_equal(code_at(0, "bandwidth", 1, 1), 11);
    assert_int_equal(code_at(0, "latency", 0, 1), 15);
    assert_int_equal(code_at(0, "bandwidth", 0, 0), -1);
    assert_int_equal(code_at(0, "nothing", 0, 1), -1);
    assert_int_equal(code_at(0, "bandwidth", 2, 1), -1);
    assert_int_equal(code_at(1, "bandwidth", 0, 1), -1);
}

static void attempts_are_walked_backwards(void **state)
{
    static const int64_t wanted[] = { 14, 13, 12, 10 };
    size_t at = 0;

    (void)state;
    add_unit(0, 2, 2);
    add_record(0, "bandwidth", 0, 1, 0, 10);
    add_record(0, "bandwidth", 1, 1, 0, 11);
    add_record(0, "bandwidth", 0, 1, 2, 12);
    add_record(0, "bandwidth", 0, 1, 2, 13);
    add_record(0, "bandwidth", 0, 1, 1, 14);
    for (int round = 0; round < 2; round++) {
        at = 0;
        for (const struct record *record =
                 evidence_latest(&evidence, 0, "bandwidth", 0, 1);
             record != NULL; record = evidence_before(&evidence, record)) {
            assert_int_equal(record->code, wanted[at++]);
        }
        assert_int_equal(at, 4);
        evidence.index = NULL; /* the same without an index */
    }
}

static void evidence_by_hand_needs_no_index(void **state)
{
    struct record records[] = {
        { .metric = "bandwidth", .attempt = 1, .code = 1 },
        { .metric = "bandwidth", .attempt = 0, .code = 2 },
        { .metric = "bandwidth", .col = 1, .code = 3 },
    };

    (void)state;
    evidence.records = records;
    evidence.records_count = 3;
    assert_int_equal(code_at(0, "bandwidth", 0, 0), 1);
    assert_int_equal(code_at(0, "bandwidth", 0, 1), 3);
    assert_int_equal(code_at(0, "latency", 0, 1), -1);
}

static void what_is_added_is_copied(void **state)
{
    char metric[] = "bandwidth";
    double samples[] = { 1, 2, 3 };
    struct record record;

    (void)state;
    add_unit(0, 1, 1);
    record_init(&record);
    record.metric = metric;
    record.samples = samples;
    record.samples_count = 3;
    add(LINE_CELL, &record);
    metric[0] = 'X';
    samples[1] = 99;
    assert_string_equal(evidence.records[0].metric, "bandwidth");
    assert_true(evidence.records[0].samples[1] == 2.0);
}

static void a_unit_can_be_replaced(void **state)
{
    (void)state;
    add_unit(0, 1, 1);
    add_unit(1, 1, 1);
    add_record(1, "bandwidth", 0, 0, 0, 5);
    add_record(1, "latency", 0, 0, 0, 6);
    add_unit(1, 3, 4); /* as when a text axis is closed */
    add_record(1, "bandwidth", 2, 3, 0, 7);
    assert_int_equal(evidence.units_count, 2);
    assert_int_equal(code_at(1, "bandwidth", 0, 0), 5);
    assert_int_equal(code_at(1, "latency", 0, 0), 6);
    assert_int_equal(code_at(1, "bandwidth", 2, 3), 7);
}

static void records_without_a_cell_are_refused(void **state)
{
    static const struct record wrong[] = {
        { .unit = 1, .metric = "bandwidth" },
        { .unit = 0, .metric = "speed" },
        { .unit = 0, .metric = "bandwidth", .row = 2 },
        { .unit = 0, .metric = NULL },
    };

    (void)state;
    add_unit(0, 2, 2);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct error err = { 0 };

        assert_int_equal(
            evidence_add(&evidence, &arena, LINE_CELL, &wrong[i], &err),
            NVBW_E_INVALID);
        assert_non_null(strstr(err.text, "no unit has the cell"));
    }
    assert_int_equal(evidence.records_count, 0);
    add_record(0, "bandwidth", 1, 1, 0, 9);
    assert_int_equal(code_at(0, "bandwidth", 1, 1), 9);
}

static void units_come_in_order(void **state)
{
    const struct unit unit = { .id = 3 };
    struct error err = { 0 };

    (void)state;
    assert_int_equal(evidence_add(&evidence, &arena, LINE_UNIT, &unit, &err),
        NVBW_E_INVALID);
    assert_int_equal(
        evidence_add(&evidence, &arena, 99, &unit, &err), NVBW_E_INVALID);
}

/* What a journal may say of a unit, and nobody could work with. */
static void units_without_names_or_measure_are_refused(void **state)
{
    struct unit_param nameless = { .name = NULL };
    struct unit_shape metricless = { .rows = 1, .cols = 1 };
    struct unit_shape endless = {
        .metric = "bandwidth", .rows = 1u << 31, .cols = 1u << 31
    };
    const struct unit units[] = {
        { .plugin = "p" },
        { .testcase = "t" },
        { .plugin = "p",
            .testcase = "t",
            .params = &nameless,
            .params_count = 1 },
        { .plugin = "p",
            .testcase = "t",
            .shapes = &metricless,
            .shapes_count = 1 },
        { .plugin = "p",
            .testcase = "t",
            .shapes = &endless,
            .shapes_count = 1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        struct error err = { 0 };

        assert_int_equal(
            evidence_add(&evidence, &arena, LINE_UNIT, &units[i], &err),
            NVBW_E_INVALID);
        assert_non_null(strstr(err.text, "unit 0 has"));
    }
    assert_int_equal(evidence.units_count, 0);
}

static void the_first_header_and_the_last_end_count(void **state)
{
    const struct run_header first = { .version = 1, .run_id = "first" };
    const struct run_header second = { .version = 1, .run_id = "second" };
    const struct run_end end = { .ended = "one", .interrupted = 1 };
    const struct run_end later = { .ended = "two" };
    const struct event resumed = { .what = "resumed", .unit = -1 };

    (void)state;
    add(LINE_RUN, &first);
    add(LINE_END, &end);
    assert_int_equal(evidence.ended, 1);
    add(LINE_RUN, &second);
    add(LINE_EVENT, &resumed);
    assert_int_equal(evidence.ended, 0);
    add(LINE_END, &later);
    assert_int_equal(evidence.ended, 1);
    assert_string_equal(evidence.header.run_id, "first");
    assert_string_equal(evidence.end.ended, "two");
    assert_int_equal(evidence.end.interrupted, 0);
}

static void a_plugin_described_again_replaces_itself(void **state)
{
    const struct plugin_schema old = {
        .name = "a", .file = "/x", .version = "1"
    };
    const struct plugin_schema other = { .name = "a", .file = "/y" };
    const struct plugin_schema new = {
        .name = "a", .file = "/x", .version = "2"
    };

    (void)state;
    add(LINE_PLUGIN, &old);
    add(LINE_PLUGIN, &other);
    add(LINE_PLUGIN, &new);
    assert_int_equal(evidence.plugins_count, 2);
    assert_string_equal(evidence.plugins[0].version, "2");
}

/* Would take minutes if a lookup cost a search. */
static void a_hundred_thousand_cells_are_looked_up(void **state)
{
    enum { SIDE = 320 };

    (void)state;
    add_unit(0, SIDE, SIDE);
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        add_record(0, "bandwidth", i / SIDE, i % SIDE, 0, i);
    }
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        assert_int_equal(code_at(0, "bandwidth", i / SIDE, i % SIDE), i);
    }
}

static void a_full_arena_is_an_error(void **state)
{
    struct arena small;
    struct error err = { 0 };
    const struct unit unit = { .id = 0, .plugin = "long enough" };

    (void)state;
    arena_init(&small, 64);
    assert_int_equal(
        evidence_add(&evidence, &small, LINE_UNIT, &unit, &err), NVBW_E_SYSTEM);
    assert_non_null(strstr(err.text, "larger than 64 bytes"));
    arena_clear(&small);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(the_last_of_the_highest_attempt_counts),
        TEST(attempts_are_walked_backwards),
        TEST(evidence_by_hand_needs_no_index),
        TEST(what_is_added_is_copied),
        TEST(a_unit_can_be_replaced),
        TEST(records_without_a_cell_are_refused),
        TEST(units_come_in_order),
        TEST(units_without_names_or_measure_are_refused),
        TEST(the_first_header_and_the_last_end_count),
        TEST(a_plugin_described_again_replaces_itself),
        TEST(a_hundred_thousand_cells_are_looked_up),
        TEST(a_full_arena_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
