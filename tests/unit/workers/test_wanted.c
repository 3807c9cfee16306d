/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "wanted.h"

static void test_set(void **state)
{
    struct unit_shape shape = {
        .metric = "m", .rows = 2, .cols = 2, .pairs = 1
    };
    const struct unit unit = {
        .plugin = "p", .testcase = "t", .shapes = &shape, .shapes_count = 1
    };
    struct arena arena;
    struct wanted wanted;
    uint32_t *cells = NULL;
    uint32_t count = 0;

    (void)state;
    arena_init(&arena, 1 << 16);
    assert_int_equal(wanted_init(&wanted, &unit, &arena, NULL), NVBW_OK);
    assert_int_equal(wanted_next(&wanted, 0), -1);
    for (uint32_t cell = 0; cell < 6; cell++) {
        wanted_add(&wanted, cell);
        wanted_add(&wanted, cell);
    }
    assert_int_equal(wanted.count, 2); /* no diagonal, none out of range */
    assert_int_equal(wanted_list(&wanted, &arena, &cells, &count, NULL), 0);
    assert_int_equal(count, 2);
    assert_int_equal(cells[0], 1);
    assert_int_equal(cells[1], 2);
    wanted_remove(&wanted, 1);
    wanted_remove(&wanted, 1);
    wanted_remove(&wanted, 9);
    assert_int_equal(wanted.count, 1);
    assert_int_equal(wanted_next(&wanted, 0), 2);
    assert_int_equal(wanted_next(&wanted, 3), -1);
    assert_false(wanted_has(&wanted, 1));
    arena_clear(&arena);
}

/* Metrics 0 and 1 have the same places, 2 has others, 3 is derived from all:
 * cells 0-3, 4-7, 8-9, 10-13. */
static void test_sources(void **state)
{
    struct unit_shape shapes[] = {
        { .metric = "a", .rows = 1, .cols = 4, .col_axis = "gpu" },
        { .metric = "b", .rows = 1, .cols = 4, .col_axis = "gpu" },
        { .metric = "c", .rows = 1, .cols = 2, .col_axis = "numa" },
        { .metric = "d", .rows = 1, .cols = 4, .col_axis = "gpu" },
    };
    const struct unit unit = {
        .plugin = "p", .testcase = "t", .shapes = shapes, .shapes_count = 4
    };
    const uint32_t wanted_cells[] = { 2, 6, 8, 9, 12 };
    struct arena arena;
    struct wanted wanted;

    (void)state;
    shapes[3].derived = 1;
    arena_init(&arena, 1 << 16);
    assert_int_equal(wanted_init(&wanted, &unit, &arena, NULL), NVBW_OK);
    wanted_add(&wanted, 6);
    wanted_add_sources(&wanted);
    assert_int_equal(wanted.count, 1); /* computed from nothing */
    wanted_add(&wanted, 12);
    wanted_add_sources(&wanted);
    assert_int_equal(wanted.count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_true(wanted_has(&wanted, wanted_cells[i]));
    }
    arena_clear(&arena);
}

static void test_no_memory(void **state)
{
    struct unit_shape shape = { .metric = "m", .rows = 1 << 20, .cols = 1 };
    const struct unit unit = {
        .plugin = "p", .testcase = "t", .shapes = &shape, .shapes_count = 1
    };
    struct arena arena;
    struct wanted wanted;

    (void)state;
    arena_init(&arena, 1 << 10);
    assert_int_equal(wanted_init(&wanted, &unit, &arena, NULL), NVBW_E_SYSTEM);
    arena_clear(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
