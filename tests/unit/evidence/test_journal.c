/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "evidence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "state.h"

static struct arena arena;
static char dir[64];
static char file[128];

static int start(void **state)
{
    (void)state;
    arena_init(&arena, 64 << 20);
    snprintf(dir, sizeof dir, "test_journal_XXXXXX");
    if (mkdtemp(dir) == NULL) {
        return -1;
    }
    snprintf(file, sizeof file, "%s/journal.ndjson", dir);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_clear(&arena);
    unlink(file);
    return rmdir(dir);
}

static const struct run_header header = { .version = EVIDENCE_VERSION,
    .build = "0.1.0",
    .run_id = "host-1",
    .started_ns = UINT64_MAX };

static struct journal *open_journal(void)
{
    struct journal *journal = NULL;
    struct error err = { 0 };

    if (journal_open(dir, &journal, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return journal;
}

static void add(struct journal *journal, uint32_t type, const void *object)
{
    struct error err = { 0 };

    if (journal_add(journal, type, object, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

static long long size_now(void)
{
    struct stat stat_now;

    assert_int_equal(stat(file, &stat_now), 0);
    return (long long)stat_now.st_size;
}

static void write_file(const char *text, const char *mode)
{
    FILE *const stream = fopen(file, mode);

    assert_non_null(stream);
    assert_true(fputs(text, stream) >= 0);
    assert_int_equal(fclose(stream), 0);
}

static int32_t read_file(struct evidence *out, struct error *err)
{
    return evidence_read(file, 1 << 20, &arena, out, err);
}

static void add_event(struct journal *journal, const char *text)
{
    const struct event event = {
        .what = "log", .unit = -1, .gpu = -1, .text = text
    };

    add(journal, LINE_EVENT, &event);
}

static void what_was_added_is_read(void **state)
{
    struct unit_shape shape = { .metric = "bandwidth", .rows = 1, .cols = 2 };
    const struct unit unit = { .id = 0,
        .plugin = "null",
        .testcase = "nothing",
        .shapes = &shape,
        .shapes_count = 1 };
    double samples[] = { 0.1, 2e10 };
    const struct facts facts = { .host = "here", .simulated = 1 };
    const struct run_end end = { .ended = "now" };
    struct record record;
    struct evidence evidence;
    struct error err = { 0 };
    struct journal *const journal = open_journal();

    (void)state;
    record_init(&record);
    record.metric = "bandwidth";
    record.col = 1;
    record.state = STATE_MEASURED;
    record.samples = samples;
    record.samples_count = 2;
    add(journal, LINE_RUN, &header);
    add(journal, LINE_FACTS, &facts);
    add(journal, LINE_UNIT, &unit);
    add(journal, LINE_CELL, &record);
    add_event(journal, "two\nlines");
    add(journal, LINE_END, &end);
    journal_close(journal);

    if (read_file(&evidence, &err) < 0) {
        fail_msg("%s", err.text);
    }
    assert_true(fields_equal(&run_header_fields, &evidence.header, &header));
    assert_string_equal(evidence.facts.host, "here");
    assert_int_equal(evidence.units_count, 1);
    assert_non_null(evidence_cell(&evidence, 0, "bandwidth", 0, 1));
    assert_memory_equal(evidence.records[0].samples, samples, sizeof samples);
    assert_string_equal(evidence.events[0].text, "two\nlines");
    assert_int_equal(evidence.ended, 1);
    assert_int_equal(evidence.torn, 0);
}

static void lines_wait_for_the_tick_that_is_due(void **state)
{
    struct journal *const journal = open_journal();
    uint64_t due_ns = 0;

    (void)state;
    assert_int_equal(journal_tick(journal, 1000000000, &due_ns, NULL), NVBW_OK);
    assert_true(due_ns == UINT64_MAX);
    add(journal, LINE_RUN, &header);
    assert_int_equal(journal_tick(journal, 1100000000, &due_ns, NULL), NVBW_OK);
    assert_true(due_ns == 1250000000);
    assert_int_equal(size_now(), 0);
    assert_int_equal(journal_tick(journal, 1250000000, &due_ns, NULL), NVBW_OK);
    assert_true(due_ns == UINT64_MAX);
    assert_true(size_now() > 0);
    journal_close(journal);
}

static void flush_does_not_wait(void **state)
{
    struct journal *const journal = open_journal();

    (void)state;
    add(journal, LINE_RUN, &header);
    assert_int_equal(size_now(), 0);
    assert_int_equal(journal_flush(journal, NULL), NVBW_OK);
    assert_true(size_now() > 0);
    journal_close(journal);
}

static void much_is_written_before_the_tick(void **state)
{
    enum { LENGTH = 700000 };
    char *const text = malloc(LENGTH + 1);
    struct journal *const journal = open_journal();

    (void)state;
    assert_non_null(text);
    memset(text, 'x', LENGTH);
    text[LENGTH] = '\0';
    add_event(journal, text);
    assert_int_equal(size_now(), 0);
    add_event(journal, text);
    assert_true(size_now() > 2 * LENGTH);
    journal_close(journal);
    free(text);
}

static void a_torn_line_is_cut_off(void **state)
{
    struct journal *journal = open_journal();
    struct evidence evidence;

    (void)state;
    add(journal, LINE_RUN, &header);
    add_event(journal, "first");
    journal_close(journal);

    const long long whole = size_now();

    write_file("{\"type\":\"event\",\"data\":{\"wh", "a");
    assert_int_equal(read_file(&evidence, NULL), NVBW_OK);
    assert_int_equal(evidence.torn, 1);
    assert_int_equal(evidence.events_count, 1);

    journal = open_journal();
    assert_int_equal(size_now(), whole);
    add_event(journal, "second");
    journal_close(journal);
    assert_int_equal(read_file(&evidence, NULL), NVBW_OK);
    assert_int_equal(evidence.torn, 0);
    assert_int_equal(evidence.events_count, 2);
    assert_string_equal(evidence.events[1].text, "second");
}

static void a_long_torn_line_is_cut_off(void **state)
{
    (void)state;
    write_file("{}\n", "w");
    for (int i = 0; i < 1000; i++) {
        write_file("0123456789", "a");
    }
    journal_close(open_journal());
    assert_int_equal(size_now(), 3);

    write_file("no newline at all", "w");
    journal_close(open_journal());
    assert_int_equal(size_now(), 0);
}

#define HEADER "{\"type\":\"run\",\"data\":{\"version\":1}}\n"
#define EVENT  "{\"type\":\"event\",\"data\":{\"what\":\"log\"}}\n"

static void malformed_lines_are_named(void **state)
{
    static const struct {
        const char *text, *wanted;
    } rows[] = {
        { HEADER EVENT "{\"type\":\n" EVENT, ":3: not JSON" },
        { HEADER "\n" EVENT, ":2: not JSON" },
        { HEADER "[1]\n", ":2: not a line of a journal" },
        { HEADER "{\"type\":\"event\"}\n", ":2: not a line of a journal" },
        { HEADER EVENT "{\"type\":\"event\",\"data\":{\"unit\":\"x\"}}\n",
            ":3: malformed event.unit: not an integer" },
        { HEADER "{\"type\":\"cell\",\"data\":{\"metric\":\"a\"}}\n",
            ":2: no unit has the cell" },
        { EVENT HEADER, ":1: the first line is no header" },
        { "{\"type\":\"news\",\"data\":{}}\n", ":1: the first line is no" },
        { "{\"type\":\"run\",\"data\":{\"version\":7}}\n",
            ":1: written in version 7 of the journal form; this build reads "
            "version 1" },
        { "{\"type\":\"run\",\"data\":{}}\n", ":1: the header has no version" },
        { "", "holds no header" },
        { "{\"type\":\"run\"", "holds no header" },
        { HEADER "{\"type\":\"event\",\"type\":\"event\",\"data\":{}}\n",
            ":2: not JSON: duplicate" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct evidence evidence;
        struct error err = { 0 };

        write_file(rows[i].text, "w");
        assert_int_equal(read_file(&evidence, &err), NVBW_E_INVALID);
        if (strstr(err.text, rows[i].wanted) == NULL) {
            fail_msg("\"%s\" does not say \"%s\"", err.text, rows[i].wanted);
        }
    }
}

static void unknown_types_are_passed_over(void **state)
{
    struct evidence evidence;

    (void)state;
    write_file(HEADER "{\"type\":\"news\",\"data\":{}}\n" EVENT, "w");
    assert_int_equal(read_file(&evidence, NULL), NVBW_OK);
    assert_int_equal(evidence.events_count, 1);
}

static void a_file_that_is_too_long_is_refused(void **state)
{
    struct evidence evidence;
    struct error err = { 0 };

    (void)state;
    write_file(HEADER EVENT EVENT, "w");
    assert_int_equal(
        evidence_read(file, 40, &arena, &evidence, &err), NVBW_E_INVALID);
    assert_non_null(strstr(err.text, "at most 40"));
    assert_int_equal(
        evidence_read(dir, 40, &arena, &evidence, &err), NVBW_E_INVALID);
    assert_non_null(strstr(err.text, "not a regular file"));
    assert_int_equal(
        evidence_read("no/such", 40, &arena, &evidence, &err), NVBW_E_SYSTEM);
}

/* However a journal is cut short, it is read, or lacks even its header. */
static void every_prefix_is_read(void **state)
{
    static const char text[] = HEADER EVENT EVENT;
    const size_t header_length = strlen(HEADER);

    (void)state;
    for (size_t length = 0; length < sizeof text; length++) {
        char prefix[sizeof text];
        struct evidence evidence;

        memcpy(prefix, text, length);
        prefix[length] = '\0';
        write_file(prefix, "w");
        assert_int_equal(read_file(&evidence, NULL),
            length < header_length ? NVBW_E_INVALID : NVBW_OK);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(what_was_added_is_read),
        TEST(lines_wait_for_the_tick_that_is_due),
        TEST(flush_does_not_wait),
        TEST(much_is_written_before_the_tick),
        TEST(a_torn_line_is_cut_off),
        TEST(a_long_torn_line_is_cut_off),
        TEST(malformed_lines_are_named),
        TEST(unknown_types_are_passed_over),
        TEST(a_file_that_is_too_long_is_refused),
        TEST(every_prefix_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
