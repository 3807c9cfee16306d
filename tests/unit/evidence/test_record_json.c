/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "record_json.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record.h"
#include "state.h"

static struct arena arena;

static int start(void **state)
{
    (void)state;
    arena_init(&arena, 16 << 20);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_clear(&arena);
    return 0;
}

static double samples[] = { 0.1, 5.5e10, DBL_MIN, DBL_MAX, -0.0, 1.0 / 3.0,
    123456789012345678.0 };
static const char *flags[] = { "short", "drift" };
static uint32_t gpus[] = { 0, UINT32_MAX };
static struct flow_record flows[] = {
    { .initiator = NVBW_BY_CE,
        .operation = NVBW_OP_COPY,
        .src_memory = NVBW_MEM_PINNED,
        .dst_memory = NVBW_MEM_DEVICE,
        .src_place = -1,
        .executor = INT32_MIN,
        .bytes = UINT64_MAX,
        .copies = INT64_MAX,
        .node_seen = "mixed" },
    { .initiator = NVBW_BY_SM, .counted = 1 },
};

static struct record sample_record(void)
{
    struct record record;

    record_init(&record);
    record.unit = 7;
    record.metric = "bandwidth";
    record.state = STATE_MEASURED;
    record.code = INT64_MIN;
    record.samples = samples;
    record.samples_count = sizeof samples / sizeof samples[0];
    record.flags = flags;
    record.flags_count = 2;
    record.gpus = gpus;
    record.gpus_count = 2;
    record.flows = flows;
    record.flows_count = 2;
    record.message = "\"quoted\" \t \xc3\xa4 \n";
    record.cover_margin = 0.1 + 0.2;
    record.mismatch_expected = UINT64_C(0x8000000000000000);
    record.mismatch_actual = UINT64_C(0x7fffffffffffffff);
    return record;
}

/* Through text and back. */
static int32_t read_back(json_t *json, struct record *out, struct error *err)
{
    char *const text = json_dumps(json, JSON_DOUBLES | JSON_COMPACT);

    json_decref(json);
    assert_non_null(text);

    json_t *const again = json_loads(text, 0, NULL);

    free(text);
    assert_non_null(again);

    const int32_t status =
        fields_from_json(&record_fields, again, &arena, out, err);

    json_decref(again);
    return status;
}

static void a_record_survives_the_round_trip(void **state)
{
    const struct record record = sample_record();
    struct record back;

    (void)state;
    for (int absent = ABSENT_OMIT; absent <= ABSENT_NULL; absent++) {
        json_t *const json =
            fields_to_json(&record_fields, &record, (enum json_absent)absent);

        assert_int_equal(read_back(json, &back, NULL), NVBW_OK);
        assert_memory_equal(back.samples, samples, sizeof samples);
        assert_true(isnan(back.precision));
        assert_true(memcmp(&back.cover_margin, &record.cover_margin, 8) == 0);
        assert_int_equal(back.flows_count, 2);
        assert_true(back.flows[0].bytes == UINT64_MAX);
        assert_string_equal(back.message, record.message);
        back.precision = record.precision;
        back.footprint_over_cache = record.footprint_over_cache;
        back.pilot_spread = record.pilot_spread;
        back.clock_gap_ns = record.clock_gap_ns;
        back.spread_low = record.spread_low;
        back.spread_high = record.spread_high;
        assert_true(fields_equal(&record_fields, &record, &back));
    }
}

static void absent_members_are_omitted_or_null(void **state)
{
    const struct record record = sample_record();
    json_t *const line = fields_to_json(&record_fields, &record, ABSENT_OMIT);
    json_t *const doc = fields_to_json(&record_fields, &record, ABSENT_NULL);

    (void)state;
    assert_null(json_object_get(line, "precision"));
    assert_null(json_object_get(line, "reason"));
    assert_true(json_is_null(json_object_get(doc, "precision")));
    assert_true(json_is_null(json_object_get(doc, "reason")));
    json_decref(line);
    json_decref(doc);
}

static void large_numbers_are_text(void **state)
{
    const struct record record = sample_record();
    json_t *const json = fields_to_json(&record_fields, &record, ABSENT_OMIT);

    (void)state;
    assert_string_equal(
        json_string_value(json_object_get(json, "mismatch_expected")),
        "0x8000000000000000");
    assert_true(json_is_integer(json_object_get(json, "mismatch_actual")));
    json_decref(json);
}

static void bytes_that_are_no_text_are_replaced(void **state)
{
    static const struct {
        const char *text, *wanted;
    } rows[] = { { "a\xff"
                   "b",
                     "a?b" },
        { "\xc3", "?" }, { "\xe2\x82", "??" }, { "\xc3\xa4\x80", "\xc3\xa4?" },
        { "\xed\xa0\x80.", "???." } };
    struct record record = sample_record();

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        record.message = rows[i].text;

        json_t *const json =
            fields_to_json(&record_fields, &record, ABSENT_OMIT);

        assert_non_null(json);
        assert_string_equal(json_string_value(json_object_get(json, "message")),
            rows[i].wanted);
        json_decref(json);
    }
}

static void unknown_members_are_ignored(void **state)
{
    json_t *const json = json_pack("{s:i, s:{s:i}}", "unit", 3, "news", "a", 1);
    struct record back;

    (void)state;
    assert_int_equal(read_back(json, &back, NULL), NVBW_OK);
    assert_int_equal(back.unit, 3);
    assert_int_equal(back.state, STATE_NONE);
    assert_true(isnan(back.cover_margin));
    assert_null(back.samples);
}

static void wrong_members_are_refused(void **state)
{
    static const struct {
        const char *json, *wanted;
    } rows[] = {
        { "{\"unit\": \"3\"}", "record.unit: not an integer" },
        { "{\"unit\": -1}", "record.unit: out of range" },
        { "{\"unit\": 4294967296}", "record.unit: out of range" },
        { "{\"unit\": 1.0}", "record.unit: not an integer" },
        { "{\"state\": \"good\"}", "record.state: unknown name \"good\"" },
        { "{\"state\": 1}", "record.state: not a name" },
        { "{\"samples\": 1}", "record.samples: not a list" },
        { "{\"samples\": [true]}", "record.samples: not a number" },
        { "{\"flags\": [1]}", "record.flags: not text" },
        { "{\"flows\": [1]}", "record.flows: not an object" },
        { "{\"flows\": [{\"bytes\": -1}]}", "flow_record.bytes: out of range" },
        { "{\"copies\": \"0x\"}", "record.copies: not a number" },
        { "{\"copies\": \"0x10000000000000000\"}",
            "record.copies: not a number" },
        { "{\"copies\": \"12\"}", "record.copies: not a number" },
        { "[]", "record: not an object" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_t *const json = json_loads(rows[i].json, 0, NULL);
        struct error err = { 0 };
        struct record back;

        assert_int_equal(
            fields_from_json(&record_fields, json, &arena, &back, &err),
            NVBW_E_INVALID);
        assert_non_null(strstr(err.text, rows[i].wanted));
        json_decref(json);
    }
}

static void a_full_arena_is_an_error(void **state)
{
    struct arena small;
    struct error err = { 0 };
    struct record back;
    json_t *const json = json_loads("{\"samples\": [1,2,3]}", 0, NULL);

    (void)state;
    arena_init(&small, 8);
    assert_int_equal(
        fields_from_json(&record_fields, json, &small, &back, &err),
        NVBW_E_INVALID);
    assert_non_null(strstr(err.text, "too large"));
    arena_clear(&small);
    json_decref(json);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_survives_the_round_trip),
        cmocka_unit_test(absent_members_are_omitted_or_null),
        cmocka_unit_test(large_numbers_are_text),
        cmocka_unit_test(bytes_that_are_no_text_are_replaced),
        cmocka_unit_test(unknown_members_are_ignored),
        cmocka_unit_test(wrong_members_are_refused),
        cmocka_unit_test(a_full_arena_is_an_error),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
