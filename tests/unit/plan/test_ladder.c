/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What the words and ranges of "sizes" stand for, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ladder.h"

/* wanted: texts between bars. */
static void expect(const char *text, const char *wanted)
{
    struct arena arena;
    struct error err = { 0 };
    const char **list = NULL;
    uint32_t count = 0;
    char joined[1024] = "";

    arena_init(&arena, 1 << 20);
    if (ladder_expand(text, &arena, &list, &count, &err) < 0) {
        fail_msg("%s: %s", text, err.text);
    }
    for (uint32_t i = 0; i < count; i++) {
        const size_t at = strlen(joined);

        snprintf(
            joined + at, sizeof joined - at, "%s%s", i > 0 ? "|" : "", list[i]);
    }
    assert_string_equal(joined, wanted);
    arena_clear(&arena);
}

static void ladders_are_sizes(void **state)
{
    (void)state;
    expect("quick", "32 MiB");
    expect("shmoo",
        "1 KiB|2 KiB|4 KiB|8 KiB|16 KiB|32 KiB|64 KiB|128 KiB|256 KiB|512 KiB|"
        "1 MiB|2 MiB|4 MiB|8 MiB|16 MiB|32 MiB|64 MiB");
    expect("256 MB", "256 MB");
    expect("1 KiB/4 KiB/1 KiB", "1 KiB|2 KiB|3 KiB|4 KiB");
    expect("1 KiB/4 KiB/2 KiB", "1 KiB|3 KiB");
    expect("1 MB/2 MB/1 MB", "1000000 B|2000000 B");
    expect("7 B/7 B/1 B", "7 B");
}

static void lists_grow(void **state)
{
    struct arena arena;
    const char **list = NULL;
    uint32_t count = 0;
    (void)state;

    arena_init(&arena, 1 << 20);
    assert_int_equal(ladder_expand("1 B", &arena, &list, &count, NULL), 0);
    assert_int_equal(ladder_expand("shmoo", &arena, &list, &count, NULL), 0);
    assert_int_equal(count, 18);
    assert_string_equal(list[17], "64 MiB");
    arena_clear(&arena);
}

static void nothing_is_guessed(void **state)
{
    static const char *const wrong[] = { "", "fast", "4", "4 MiB/8 MiB",
        "1 B/2 B/1 B/1 B", "0 B", "8 MiB/4 MiB/1 MiB", "1 B/9 B/0 B",
        "1 B/1 GiB/1 B", "1 KiB//1 KiB",
        "1111111111111111111111111111111111111111111111111111111111111111 B" };
    (void)state;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct error err = { 0 };

        assert_true(ladder_check(wrong[i], &err) < 0);
        assert_true(strlen(err.text) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ladders_are_sizes),
        cmocka_unit_test(lists_grow),
        cmocka_unit_test(nothing_is_guessed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
