/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cmocka_header.h"
#include "unit.h"

static struct unit_shape shapes[] = {
    { .metric = "bandwidth", .rows = 3, .cols = 3, .pairs = 1 },
    { .metric = "total", .rows = 1, .cols = 2 },
};
static const struct unit unit = {
    .plugin = "p", .testcase = "t", .shapes = shapes, .shapes_count = 2
};

/* Numbers and places are one another's inverse, and diagonals are no cells. */
static void test_numbering(void **state)
{
    (void)state;
    uint32_t cells = 0;

    assert_int_equal(unit_cell_span(&unit), 11);
    assert_int_equal(unit_cell_count(&unit), 8);
    for (uint32_t number = 0; number < 12; number++) {
        struct cell_place place;

        if (!unit_cell_at(&unit, number, &place)) {
            continue;
        }
        cells++;
        assert_int_equal(unit_cell_number(&unit, shapes[place.shape].metric,
                             place.row, place.col),
            number);
    }
    assert_int_equal(cells, 8);
    assert_int_equal(unit_cell_number(&unit, "bandwidth", 1, 1), -1);
    assert_int_equal(unit_cell_number(&unit, "bandwidth", 3, 0), -1);
    assert_int_equal(unit_cell_number(&unit, "none", 0, 0), -1);
    assert_int_equal(unit_cell_number(&unit, "total", 0, 1), 10);
}

static void test_title(void **state)
{
    (void)state;
    struct unit swept = unit;
    struct arena arena;

    arena_init(&arena, 1 << 16);
    assert_string_equal(unit_title(&unit, &arena), "p/t");
    swept.sweep = "buffer_size=64 MiB";
    assert_string_equal(unit_title(&swept, &arena), "p/t[buffer_size=64 MiB]");
    arena_clear(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbering),
        cmocka_unit_test(test_title),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
