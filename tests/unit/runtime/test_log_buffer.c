/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "log_buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct seen {
    uint32_t lines, dropped;
    uint32_t level;
    uint64_t now_ns;
    size_t length;
    char text[64];
};

static void on_line(void *user, uint32_t level, const char *text,
    uint64_t now_ns, uint32_t dropped)
{
    struct seen *const seen = user;

    seen->lines++;
    seen->dropped += dropped;
    if (dropped == 0) {
        seen->level = level;
        seen->now_ns = now_ns;
        seen->length = strlen(text);
        strncpy(seen->text, text, sizeof seen->text - 1);
    }
}

static void test_order_and_drain(void **state)
{
    struct log_buffer *log = NULL;
    struct seen seen = { 0 };

    (void)state;
    assert_int_equal(log_buffer_open(1 << 16, &log, NULL), NVBW_OK);
    log_buffer_add(log, NVBW_LOG_WARN, "one", 1);
    log_buffer_add(log, NVBW_LOG_INFO, "two", 2);
    log_buffer_add(log, NVBW_LOG_INFO, NULL, 3);
    log_buffer_drain(log, on_line, &seen);
    assert_int_equal(seen.lines, 2);
    assert_string_equal(seen.text, "two");
    assert_int_equal(seen.level, NVBW_LOG_INFO);
    assert_int_equal(seen.now_ns, 2);
    log_buffer_drain(log, on_line, &seen);
    assert_int_equal(seen.lines, 2);
    log_buffer_add(log, NVBW_LOG_ERROR, "three", 4);
    log_buffer_drain(log, on_line, &seen);
    assert_int_equal(seen.lines, 3);
    assert_string_equal(seen.text, "three");
    log_buffer_close(log);
}

/* C20: past the limit of a unit lines are counted and dropped, also when all
 * before were sent; the next unit has room again. */
static void test_limit(void **state)
{
    enum { LIMIT = 1000, LINES = 100 };
    struct log_buffer *log = NULL;
    struct seen seen = { 0 };
    struct seen later = { 0 };

    (void)state;
    assert_int_equal(log_buffer_open(LIMIT, &log, NULL), NVBW_OK);
    for (int i = 0; i < LINES; i++) {
        log_buffer_add(log, NVBW_LOG_INFO, "twenty characters...", 1);
        log_buffer_drain(log, on_line, &seen);
    }
    assert_true(seen.dropped > 0);
    assert_true(seen.dropped < LINES);
    log_buffer_reset(log);
    log_buffer_add(log, NVBW_LOG_INFO, "again", 1);
    log_buffer_drain(log, on_line, &later);
    assert_int_equal(later.lines, 1);
    assert_int_equal(later.dropped, 0);
    log_buffer_close(log);
}

static void test_long_line(void **state)
{
    static char text[2 * LOG_LINE_LIMIT_BYTES];
    struct log_buffer *log = NULL;
    struct seen seen = { 0 };

    (void)state;
    memset(text, 'x', sizeof text - 1);
    assert_int_equal(log_buffer_open(1 << 16, &log, NULL), NVBW_OK);
    log_buffer_add(log, NVBW_LOG_INFO, text, 1);
    log_buffer_drain(log, on_line, &seen);
    assert_int_equal(seen.length, LOG_LINE_LIMIT_BYTES);
    log_buffer_close(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_and_drain),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_long_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
