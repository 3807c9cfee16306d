/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "taint.h"

static struct gpu_facts gpus[] = {
    { .uuid = "GPU-a" },
    { .uuid = "GPU-b" },
    { .uuid = "GPU-c" },
};
static const struct facts facts = { .gpus = gpus, .gpus_count = 3 };

static void expect_devices(const struct taint *taint, struct unit *unit,
    const struct facts *machine, const char *wanted)
{
    struct arena arena;
    const char *text = NULL;

    arena_init(&arena, 1 << 16);
    assert_int_equal(
        taint_devices(taint, machine, unit, 1, &arena, &text, NULL), NVBW_OK);
    if (wanted == NULL) {
        assert_null(text);
    } else {
        assert_string_equal(text, wanted);
    }
    arena_clear(&arena);
}

static void test_devices(void **state)
{
    uint32_t selected[] = { 0, 2 };
    struct unit unit = { .gpus = selected, .gpus_count = 2 };
    struct taint taint = { .count = 0 };

    (void)state;
    expect_devices(&taint, &unit, &facts, "GPU-a,GPU-c");
    taint_add(&taint, 2);
    taint_add(&taint, 2);
    assert_int_equal(taint.count, 1);
    expect_devices(&taint, &unit, &facts, "GPU-a");
    taint_add(&taint, 0);
    expect_devices(&taint, &unit, &facts, "");
    unit.gpus_count = 0;
    expect_devices(&taint, &unit, &facts, NULL);
}

static void test_devices_without_uuid(void **state)
{
    struct gpu_facts nameless[] = { { .uuid = NULL }, { .uuid = "GPU-b" } };
    const struct facts machine = { .gpus = nameless, .gpus_count = 2 };
    uint32_t selected[] = { 0, 1 };
    struct unit unit = { .gpus = selected, .gpus_count = 2 };
    const struct taint taint = { .count = 0 };

    (void)state;
    expect_devices(&taint, &unit, &machine, NULL);
}

static void test_blocks_by_axis(void **state)
{
    uint32_t selected[] = { 2, 1 };
    struct unit_shape shapes[] = {
        { .metric = "pair",
            .rows = 2,
            .cols = 2,
            .row_axis = "gpu",
            .col_axis = "gpu",
            .pairs = 1 },
        { .metric = "node", .rows = 2, .cols = 1, .row_axis = "numa" },
    };
    const struct unit unit = {
        .gpus = selected, .gpus_count = 2, .shapes = shapes, .shapes_count = 2
    };
    struct taint taint = { .count = 0 };

    (void)state;
    assert_int_equal(taint_blocks(&taint, &unit, 1, NULL), -1);
    taint_add(&taint, 1);
    assert_int_equal(taint_blocks(&taint, &unit, 1, NULL), 1);
    assert_int_equal(taint_blocks(&taint, &unit, 2, NULL), 1);
    assert_int_equal(taint_blocks(&taint, &unit, 0, NULL), -1);
    assert_int_equal(taint_blocks(&taint, &unit, 5, NULL), -1);
}

/* A cell without a gpu axis is blocked by where its flows go. */
static void test_blocks_by_flow(void **state)
{
    struct unit_shape shape = { .metric = "sum", .rows = 3, .cols = 1 };
    const struct unit unit = { .shapes = &shape, .shapes_count = 1 };
    struct flow_record flows[] = {
        { .initiator = NVBW_BY_CE,
            .src_memory = NVBW_MEM_PINNED,
            .dst_memory = NVBW_MEM_DEVICE,
            .src_place = 1,
            .dst_place = 0 },
        { .initiator = NVBW_BY_SM,
            .src_memory = NVBW_MEM_DEVICE,
            .src_place = 1,
            .executor = 0 },
        { .initiator = NVBW_BY_CPU,
            .src_memory = NVBW_MEM_PINNED,
            .dst_memory = NVBW_MEM_PINNED,
            .executor = 1 },
    };
    struct record records[] = {
        { .metric = "sum", .row = 0, .flows = &flows[0], .flows_count = 1 },
        { .metric = "sum", .row = 1, .flows = &flows[1], .flows_count = 1 },
        { .metric = "sum", .row = 2, .flows = &flows[2], .flows_count = 1 },
    };
    const struct recording recording = { .records = records,
        .records_count = 3 };
    struct taint taint = { .count = 0 };

    (void)state;
    taint_add(&taint, 1);
    assert_int_equal(taint_blocks(&taint, &unit, 0, &recording), -1);
    assert_int_equal(taint_blocks(&taint, &unit, 1, &recording), 1);
    assert_int_equal(taint_blocks(&taint, &unit, 2, &recording), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_devices_without_uuid),
        cmocka_unit_test(test_blocks_by_axis),
        cmocka_unit_test(test_blocks_by_flow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
