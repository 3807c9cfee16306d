/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Frames and the table-driven codec: round trips, and refusal of everything
 * that is not whole. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_header.h"
#include "wire.h"

static struct record sample_record(void)
{
    static double samples[] = { 1.5, -0.0, 1e300 };
    static const char *flags[] = { "short", "drift" };
    static uint32_t gpus[] = { 3, 1 };
    static struct flow_record flows[] = {
        { .initiator = NVBW_BY_CE, .src_place = -1, .bytes = UINT64_MAX },
        { .operation = NVBW_OP_COPY, .node_seen = "mixed" },
    };
    struct record record;

    record_init(&record);
    record.unit = 7;
    record.metric = "bandwidth";
    record.samples = samples;
    record.samples_count = 3;
    record.flags = flags;
    record.flags_count = 2;
    record.gpus = gpus;
    record.gpus_count = 2;
    record.flows = flows;
    record.flows_count = 2;
    record.code = -5;
    return record;
}

static void encode(uint32_t type, const void *object, struct strbuf *buf)
{
    strbuf_init(buf, 1 << 20);
    assert_int_equal(wire_encode(type, object, buf, NULL), NVBW_OK);
}

static void test_record_goes_round(void **state)
{
    (void)state;
    const struct record record = sample_record();
    struct arena arena;
    struct strbuf buf;
    struct frame frame;
    struct record back;

    arena_init(&arena, 1 << 20);
    encode(FRAME_CELL, &record, &buf);
    assert_int_equal(wire_find(buf.text, buf.length, &frame, NULL), 1);
    assert_int_equal(frame.type, FRAME_CELL);
    assert_int_equal(frame.frame_bytes, buf.length);
    assert_int_equal(fields_decode(&record_fields, frame.payload,
                         frame.payload_bytes, &arena, &back, NULL),
        NVBW_OK);
    assert_true(fields_equal(&record_fields, &record, &back));
    assert_string_equal(back.flags[1], "drift");
    assert_true(back.flows[0].bytes == UINT64_MAX);
    assert_true(isnan(back.precision));
    assert_null(back.message);
    strbuf_free(&buf);
    arena_clear(&arena);
}

/* A payload that ends early, at whatever byte, is refused. */
static void test_every_truncation_is_refused(void **state)
{
    (void)state;
    const struct record record = sample_record();
    struct strbuf buf;
    struct frame frame;

    encode(FRAME_CELL, &record, &buf);
    assert_int_equal(wire_find(buf.text, buf.length, &frame, NULL), 1);
    for (size_t length = 0; length < frame.payload_bytes; length++) {
        struct arena arena;
        struct record back;
        struct error err;

        arena_init(&arena, 1 << 20);
        assert_int_equal(fields_decode(&record_fields, frame.payload, length,
                             &arena, &back, &err),
            NVBW_E_INVALID);
        assert_true(strncmp(err.text, "malformed ", 10) == 0);
        arena_clear(&arena);
    }
    for (size_t length = 0; length < buf.length; length++) {
        assert_int_equal(wire_find(buf.text, length, &frame, NULL), 0);
    }
    strbuf_free(&buf);
}

static void test_bytes_too_many_are_refused(void **state)
{
    (void)state;
    const struct quit_frame quit = { 0 };
    struct arena arena;
    struct strbuf buf;
    struct quit_frame back;

    arena_init(&arena, 1 << 20);
    strbuf_init(&buf, 1 << 10);
    fields_encode(&quit_fields, &quit, &buf);
    strbuf_add_n(&buf, "", 1);
    assert_int_equal(
        fields_decode(&quit_fields, buf.text, buf.length, &arena, &back, NULL),
        NVBW_E_INVALID);
    strbuf_free(&buf);
    arena_clear(&arena);
}

static void test_bad_headers_are_refused(void **state)
{
    (void)state;
    const struct quit_frame quit = { 0 };
    struct strbuf buf;
    struct frame frame;

    encode(FRAME_QUIT, &quit, &buf);
    for (size_t at = 0; at < 8; at++) {
        const char kept = buf.text[at];

        buf.text[at] = (char)(kept ^ 0x40);
        assert_int_equal(
            wire_find(buf.text, buf.length, &frame, NULL), NVBW_E_INVALID);
        buf.text[at] = kept;
    }
    buf.text[11] = 0x7f; /* a length past the limit */
    assert_int_equal(
        wire_find(buf.text, buf.length, &frame, NULL), NVBW_E_INVALID);
    strbuf_free(&buf);
}

/* A count that promises more than the frame holds takes no memory. */
static void test_counts_are_held_against_the_bytes(void **state)
{
    (void)state;
    struct arena arena;
    struct begin_frame back;
    const unsigned char huge[] = { 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0 };

    arena_init(&arena, 1 << 20);
    assert_int_equal(
        fields_decode(&begin_fields, huge, sizeof huge, &arena, &back, NULL),
        NVBW_E_INVALID);
    assert_int_equal(arena.used_bytes, 0);
    arena_clear(&arena);
}

static void test_unknown_names_are_refused(void **state)
{
    (void)state;
    struct record record = sample_record();
    struct arena arena;
    struct strbuf buf;
    struct record back;

    arena_init(&arena, 1 << 20);
    record.state = 999;
    strbuf_init(&buf, 1 << 20);
    fields_encode(&record_fields, &record, &buf);
    assert_int_equal(fields_decode(&record_fields, buf.text, buf.length, &arena,
                         &back, NULL),
        NVBW_E_INVALID);
    strbuf_free(&buf);
    arena_clear(&arena);
}

/* Random bytes never crash the decoder. */
static void test_noise(void **state)
{
    (void)state;
    uint64_t seed = 20261129;

    for (int round = 0; round < 20000; round++) {
        unsigned char bytes[256];
        struct arena arena;
        struct plugin_schema schema;

        for (size_t i = 0; i < sizeof bytes; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            bytes[i] = (seed >> 33) % 3 == 0 ? (unsigned char)(seed >> 40) : 0;
        }
        arena_init(&arena, 1 << 16);
        fields_decode(
            &plugin_schema_fields, bytes, sizeof bytes, &arena, &schema, NULL);
        arena_clear(&arena);
    }
}

static void test_through_a_pipe(void **state)
{
    (void)state;
    const struct record record = sample_record();
    struct arena arena;
    uint32_t type = 0;
    void *object = NULL;
    int fds[2];

    arena_init(&arena, 1 << 20);
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(wire_send(fds[1], FRAME_CELL, &record, NULL), NVBW_OK);
    close(fds[1]);
    assert_int_equal(wire_receive(fds[0], &arena, &type, &object, NULL), 1);
    assert_int_equal(type, FRAME_CELL);
    assert_true(fields_equal(&record_fields, &record, object));
    assert_int_equal(wire_receive(fds[0], &arena, &type, &object, NULL), 0);
    close(fds[0]);
    arena_clear(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record_goes_round),
        cmocka_unit_test(test_every_truncation_is_refused),
        cmocka_unit_test(test_bytes_too_many_are_refused),
        cmocka_unit_test(test_bad_headers_are_refused),
        cmocka_unit_test(test_counts_are_held_against_the_bytes),
        cmocka_unit_test(test_unknown_names_are_refused),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_through_a_pipe),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
