/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include <string.h>

#include "arena.h"
#include "cmocka_header.h"
#include "strbuf.h"

static void test_lists_grow(void **state)
{
    (void)state;
    struct arena arena;
    uint64_t *list = NULL;
    uint32_t count = 0;

    arena_init(&arena, 1 << 20);
    for (uint64_t i = 0; i < 1000; i++) {
        list = arena_append(&arena, list, &count, sizeof *list);
        assert_non_null(list);
        assert_int_equal(list[i], 0);
        list[i] = i;
    }
    assert_int_equal(count, 1000);
    for (uint64_t i = 0; i < 1000; i++) {
        assert_int_equal(list[i], i);
    }
    arena_clear(&arena);
}

static void test_the_limit_holds(void **state)
{
    (void)state;
    struct arena arena;

    arena_init(&arena, 1000);
    assert_non_null(arena_alloc(&arena, 1, 900));
    assert_null(arena_alloc(&arena, 1, 200));
    assert_null(arena_alloc(&arena, SIZE_MAX / 2, 16));
    assert_non_null(arena_alloc(&arena, 1, 16));
    arena_clear(&arena);
    assert_non_null(arena_alloc(&arena, 1, 900));
    arena_clear(&arena);
}

/* A large block beside a half-used small one leaves the small one in use. */
static void test_large_and_small(void **state)
{
    (void)state;
    struct arena arena;

    arena_init(&arena, 1 << 24);
    char *const one = arena_text(&arena, "one");
    char *const large = arena_alloc(&arena, 1, 1 << 20);
    char *const two = arena_text(&arena, "two");

    memset(large, 0xff, 1 << 20);
    assert_string_equal(one, "one");
    assert_string_equal(two, "two");
    assert_true(two > one && two - one < 64);
    arena_clear(&arena);
}

static void test_text_is_bounded(void **state)
{
    (void)state;
    struct strbuf buf;

    strbuf_init(&buf, 10);
    strbuf_format(&buf, "%d-%s", 12, "abc");
    assert_string_equal(buf.text, "12-abc");
    strbuf_add(&buf, "too long");
    assert_true(buf.failed);
    assert_string_equal(buf.text, "12-abc");
    strbuf_reset(&buf);
    strbuf_add_repeat(&buf, 'x', 10);
    assert_false(buf.failed);
    assert_string_equal(buf.text, "xxxxxxxxxx");
    strbuf_free(&buf);
    assert_string_equal(buf.text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_grow),
        cmocka_unit_test(test_the_limit_holds),
        cmocka_unit_test(test_large_and_small),
        cmocka_unit_test(test_text_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
