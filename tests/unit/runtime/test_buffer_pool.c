/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MIB = 1 << 20, LIMIT = 8 * MIB };

static struct node_facts nodes[] = {
    { .number = 0, .cpus = "0-4095", .memory_bytes = UINT64_C(64) << 20 }
};
static const struct facts facts = { .nodes = nodes, .nodes_count = 1 };

static struct buffer *get_with(
    struct buffer_pool *pool, uint64_t bytes, uint64_t content)
{
    const struct buffer_want want = {
        .facts = &facts, .executor = -1, .bytes = bytes, .content = content
    };
    struct buffer *buffer = NULL;

    assert_int_equal(
        buffer_get(pool, NVBW_MEM_PAGEABLE, &want, &buffer, NULL), NVBW_OK);
    assert_int_equal(buffer->in_use, 1);
    return buffer;
}

static struct buffer *get(struct buffer_pool *pool, uint64_t bytes)
{
    return get_with(pool, bytes, 0);
}

static int open_pool(void **state)
{
    struct buffer_pool *pool = NULL;

    if (buffer_pool_open(LIMIT, &pool, NULL) < 0) {
        return -1;
    }
    *state = pool;
    return 0;
}

static int close_pool(void **state)
{
    buffer_pool_close(*state);
    return 0;
}

static void what_was_put_is_got_again(void **state)
{
    struct buffer *const first = get(*state, 2 * MIB);

    buffer_put(*state, first);
    assert_ptr_equal(get(*state, 2 * MIB), first);
}

static void what_is_in_use_is_not_given_twice(void **state)
{
    assert_ptr_not_equal(get(*state, MIB), get(*state, MIB));
}

static void sizes_fit_within_a_factor_of_two(void **state)
{
    struct buffer *const large = get(*state, 4 * MIB);

    buffer_put(*state, large);

    struct buffer *const tiny = get(*state, MIB);

    assert_ptr_not_equal(tiny, large);
    assert_ptr_equal(get(*state, 2 * MIB), large);
}

static void the_oldest_gives_way(void **state)
{
    struct buffer *const first = get(*state, 4 * MIB);
    struct buffer *const second = get(*state, 4 * MIB);
    struct buffer *const third = get(*state, 4 * MIB);

    buffer_put(*state, first);
    buffer_put(*state, second);
    buffer_put(*state, third);
    assert_ptr_equal(get(*state, 4 * MIB), third);
    assert_ptr_equal(get(*state, 4 * MIB), second);
}

static void contents_are_found_again(void **state)
{
    struct buffer *const one = get_with(*state, MIB, 7);
    struct buffer *const other = get_with(*state, MIB, 8);

    assert_int_equal(one->content, 0);
    one->content = 7;
    other->content = 8;
    buffer_put(*state, one);
    buffer_put(*state, other);
    assert_ptr_equal(get_with(*state, MIB, 7), one);
    assert_int_equal(one->content, 7);
}

static void contents_that_no_one_wants_are_forgotten(void **state)
{
    struct buffer *const laid = get_with(*state, MIB, 7);
    struct buffer *const plain = get(*state, MIB);

    laid->content = 7;
    buffer_put(*state, plain);
    buffer_put(*state, laid);
    /* Who has nothing to lose goes first. */
    assert_ptr_equal(get(*state, MIB), plain);
    assert_ptr_equal(get(*state, MIB), laid);
    assert_int_equal(laid->content, 0);
}

static void kinds_without_a_row_are_not_built(void **state)
{
    const struct buffer_want want = { .facts = &facts, .bytes = MIB };
    struct buffer *buffer = NULL;
    struct error err = { 0 };

    assert_int_equal(buffer_get(*state, BUFFER_KINDS_END, &want, &buffer, &err),
        NVBW_E_SKIPPED);
    assert_int_equal(err.code, NVBW_SKIP_NOT_BUILT);
}

#define CASE(function)                                                         \
    cmocka_unit_test_setup_teardown(function, open_pool, close_pool)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_was_put_is_got_again),
        CASE(what_is_in_use_is_not_given_twice),
        CASE(sizes_fit_within_a_factor_of_two),
        CASE(the_oldest_gives_way),
        CASE(contents_are_found_again),
        CASE(contents_that_no_one_wants_are_forgotten),
        CASE(kinds_without_a_row_are_not_built),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
