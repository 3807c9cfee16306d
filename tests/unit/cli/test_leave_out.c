/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "leave_out.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "state.h"

enum { GPUS = 8, PAIRS = GPUS * (GPUS - 1) };

static struct arena arena;
static const char *seed_text = "1";
static struct unit_param seed = {
    .name = "seed", .values = &seed_text, .values_count = 1
};
static struct unit_shape shapes[] = {
    { .metric = "forward", .rows = GPUS, .cols = GPUS, .pairs = 1 },
    { .metric = "total", .rows = GPUS, .cols = GPUS, .pairs = 1 },
    { .metric = "host", .rows = 1, .cols = GPUS },
};

static struct unit make_unit(void)
{
    return (struct unit){ .id = 7,
        .params = &seed,
        .params_count = 1,
        .shapes = shapes,
        .shapes_count = 3 };
}

static struct record *leave_out(
    const struct unit *unit, uint32_t pairs, uint32_t *out_count)
{
    struct record *records = NULL;

    assert_int_equal(
        leave_out_pairs(unit, pairs, "why", &arena, &records, out_count, NULL),
        NVBW_OK);
    return records;
}

static int start(void **state)
{
    (void)state;
    arena_init(&arena, 16 << 20);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    seed_text = "1";
    arena_clear(&arena);
    return 0;
}

static void all_but_some_are_skipped(void **state)
{
    const struct unit unit = make_unit();
    uint32_t count = 0;
    const struct record *const records = leave_out(&unit, 5, &count);

    (void)state;
    assert_int_equal(count, 2 * (PAIRS - 5));
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(records[i].unit, 7);
        assert_int_equal(records[i].state, STATE_SKIP);
        assert_string_equal(records[i].reason, "excluded");
        assert_int_not_equal(records[i].row, records[i].col);
        assert_string_not_equal(records[i].metric, "host");
    }
}

/* Both metrics of a measurement keep the same pairs. */
static void metrics_agree(void **state)
{
    const struct unit unit = make_unit();
    uint32_t count = 0;
    const struct record *const records = leave_out(&unit, 5, &count);

    (void)state;
    for (uint32_t i = 0; i < count / 2; i++) {
        assert_int_equal(records[i].row, records[count / 2 + i].row);
        assert_int_equal(records[i].col, records[count / 2 + i].col);
    }
}

static void seed_decides(void **state)
{
    const struct unit unit = make_unit();
    uint32_t count = 0;
    const struct record *const one = leave_out(&unit, 5, &count);
    const struct record *const same = leave_out(&unit, 5, &count);
    uint32_t differing = 0;

    (void)state;
    seed_text = "2";

    const struct record *const other = leave_out(&unit, 5, &count);

    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(
            one[i].row * GPUS + one[i].col, same[i].row * GPUS + same[i].col);
        differing += one[i].row != other[i].row || one[i].col != other[i].col;
    }
    assert_int_not_equal(differing, 0);
}

static void enough_pairs_leave_none_out(void **state)
{
    struct unit unit = make_unit();
    uint32_t count = 1;

    (void)state;
    leave_out(&unit, PAIRS, &count);
    assert_int_equal(count, 0);
    unit.state = STATE_SKIP;
    leave_out(&unit, 1, &count);
    assert_int_equal(count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_but_some_are_skipped, start, stop),
        cmocka_unit_test_setup_teardown(metrics_agree, start, stop),
        cmocka_unit_test_setup_teardown(seed_decides, start, stop),
        cmocka_unit_test_setup_teardown(
            enough_pairs_leave_none_out, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
