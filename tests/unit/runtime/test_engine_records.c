/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What the engine's records say, in the cases that are easy to get wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine_scene.h"
#include "state.h"

static const struct nvbw_cell down_cell = NVBW_CELL("bandwidth", 0, 0);
static const struct nvbw_cell up_cell = NVBW_CELL("bandwidth", 0, 1);
static const struct nvbw_cell latency = NVBW_CELL("latency", 0, 0);
static const struct nvbw_cell total = NVBW_CELL("total", 0, 0);
static const struct nvbw_cell duration = NVBW_CELL("time", 0, 0);

static struct nvbw_flow with_cell(
    const struct nvbw_flow *flow, const struct nvbw_cell *cell)
{
    struct nvbw_flow own = *flow;

    own.cell = cell;
    return own;
}

static void every_byte_of_odd_sizes_is_compared(void **state)
{
    static const uint64_t sizes[] = { 1, 15, 64 * MIB - 16, 64 * MIB + 4096 };
    struct nvbw_flow flow = with_cell(&scene_up, &up_cell);
    const struct nvbw_flow *const flows[] = { &flow, NULL };
    struct scene scene;

    (void)state;
    scene_open(&scene);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        flow.bytes = sizes[i];
        scene.request.params.fixed = sizes[i] > MIB;
        scene.request.params.samples = 1;
        scene.request.params.copies = 1;

        const struct record *const record = scene_measure(&scene, flows, NULL);

        scene_expect(record, STATE_MEASURED, NULL);
        assert_int_equal(record->copy_bytes, sizes[i]);
        assert_int_equal(record->verified_bytes,
            record->samples_count * record->copies * sizes[i]);
    }
    scene_close(&scene);
}

static void misaligned_copies_are_too(void **state)
{
    struct nvbw_flow flow = with_cell(&scene_down, &down_cell);
    const struct nvbw_flow *const flows[] = { &flow, NULL };
    struct scene scene;

    (void)state;
    scene_open(&scene);
    flow.offset = 3;
    flow.bytes = 4099;
    scene_expect(scene_measure(&scene, flows, NULL), STATE_MEASURED, NULL);
    assert_int_equal(scene.result.records[0].flows[0].offset, 3);
    scene_close(&scene);
}

static void times_are_times(void **state)
{
    const struct nvbw_flow flow = with_cell(&scene_down, &latency);
    const struct nvbw_flow *const flows[] = { &flow, NULL };
    struct scene scene;

    (void)state;
    scene_open(&scene);

    const struct record *const record = scene_measure(&scene, flows, &duration);
    const double each_ns = MIB / 8 / 50.0;

    scene_expect_figure(record, each_ns, 1e-2);
    scene_expect_figure(&record[1], each_ns * (double)record->copies, 1e-2);
    scene_close(&scene);
}

static void a_total_adds_up(void **state)
{
    const struct nvbw_flow down = with_cell(&scene_down, &down_cell);
    const struct nvbw_flow up = with_cell(&scene_up, &up_cell);
    const struct nvbw_flow *const flows[] = { &down, &up, NULL };
    struct scene scene;

    (void)state;
    scene_open(&scene);

    const struct record *const record = scene_measure(&scene, flows, &total);

    assert_int_equal(scene.result.records_count, 3);
    scene_expect_figure(&record[0], 50e9, 1e-2);
    scene_expect_figure(&record[1], 50e9, 1e-2);
    scene_expect_figure(&record[2], 100e9, 1e-2);
    assert_int_equal(record[2].footprint_bytes,
        record[0].footprint_bytes + record[1].footprint_bytes);
    assert_int_equal(record[2].verified_bytes,
        record[0].verified_bytes + record[1].verified_bytes);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(record[i].flows_count, 2);
        assert_int_equal(record[i].flows[0].counted, i != 1);
        assert_int_equal(record[i].flows[1].counted, i != 0);
        assert_int_equal(record[i].flows[1].copies, record[i].copies);
        assert_non_null(record[i].flows[0].node_seen);
        assert_true(record[i].pilot_spread >= 0.0);
        assert_true(record[i].clock_gap_ns >= 0.0);
    }
    scene_close(&scene);
}

static void a_total_of_few_steps_is_coarse(void **state)
{
    const struct nvbw_flow down = with_cell(&scene_down, &down_cell);
    struct nvbw_flow behind = scene_up;
    const struct nvbw_flow *const flows[] = { &down, &behind, NULL };
    struct scene scene;

    (void)state;
    behind.flags = NVBW_FLOW_BACKGROUND;
    scene_open(&scene);

    const struct record *const fine = scene_measure(&scene, flows, &total);

    scene_expect(&fine[1], STATE_MEASURED, NULL);
    assert_false(scene_has_flag(&fine[1], "coarse"));
    assert_true(fine[1].cover_margin > 0.0);
    scene.request.params.fixed = 1;
    scene.request.params.copies = 16;

    const struct record *const coarse = scene_measure(&scene, flows, &total);

    scene_expect(&coarse[1], STATE_MEASURED, NULL);
    assert_true(scene_has_flag(&coarse[1], "coarse"));
    assert_false(scene_has_flag(&coarse[0], "coarse"));
    scene_close(&scene);
}

static void a_local_copy_reads_and_writes(void **state)
{
    struct nvbw_flow flow = with_cell(&scene_up, &up_cell);
    const struct nvbw_flow *const flows[] = { &flow, NULL };
    struct scene scene;

    (void)state;
    flow.dst_memory = NVBW_MEM_DEVICE;
    flow.dst_place = 0;
    scene_open(&scene);

    const struct record *const record = scene_measure(&scene, flows, NULL);

    scene_expect(record, STATE_MEASURED, NULL);
    assert_int_equal(
        record->traffic_bytes, 2 * record->copies * record->copy_bytes);
    scene_close(&scene);
}

static void another_machine_is_an_error(void **state)
{
    const struct nvbw_flow flow = with_cell(&scene_down, &down_cell);
    const struct nvbw_flow *const flows[] = { &flow, NULL };
    struct scene scene;

    (void)state;
    scene_open(&scene);
    scene.facts.gpus[0].uuid = "GPU-00000000-1111-2222-3333-444444444444";
    scene_expect(
        scene_measure(&scene, flows, NULL), STATE_ERROR, "facts_changed");
    assert_non_null(strstr(scene.result.records[0].message, "start a new run"));
    scene_close(&scene);
}

static void a_hidden_gpu_is_a_skip(void **state)
{
    const struct nvbw_flow flow = with_cell(&scene_down, &down_cell);
    const struct nvbw_flow *const flows[] = { &flow, NULL };
    struct scene scene;

    (void)state;
    scene_open(&scene);
    scene.facts.gpus[0].uuid = "GPU-00000000-1111-2222-3333-444444444444";
    scene.facts.gpus[0].pci = "0000:f0:00.0";
    scene_expect(scene_measure(&scene, flows, NULL), STATE_SKIP, "no_device");
    scene_close(&scene);
}

static void a_shortage_is_a_skip_and_no_end(void **state)
{
    struct nvbw_flow flow = with_cell(&scene_down, &down_cell);
    const struct nvbw_flow *const flows[] = { &flow, NULL };
    struct scene scene;

    (void)state;
    scene_open(&scene);
    flow.bytes = UINT64_C(64) << 30;
    flow.src_memory = NVBW_MEM_DEVICE;
    flow.src_place = 0;

    const struct record *const record = scene_measure(&scene, flows, NULL);

    scene_expect(record, STATE_SKIP, "memory");
    assert_non_null(strstr(record->message, "MiB free"));
    assert_int_equal(scene.result.poisoned, 0);
    flow.bytes = 4096;
    scene_expect(scene_measure(&scene, flows, NULL), STATE_MEASURED, NULL);
    scene_close(&scene);
}

static void more_copies_than_can_be_queued_are_refused(void **state)
{
    struct nvbw_flow flow = with_cell(&scene_down, &down_cell);
    const struct nvbw_flow *const flows[] = { &flow, NULL };
    struct scene scene;

    (void)state;
    scene_open(&scene);
    flow.repeats = 1000;
    scene_expect(scene_measure(&scene, flows, NULL), STATE_ERROR, "contract");
    scene_close(&scene);
}

static void what_is_not_built_is_never_ignored(void **state)
{
    struct nvbw_flow wishes[4];
    struct scene scene;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        wishes[i] = with_cell(&scene_down, &down_cell);
    }
    wishes[0].initiator = NVBW_BY_SM;
    wishes[0].flags = NVBW_FLOW_SYNC;
    wishes[1].load_permille = 500;
    wishes[2].stride = 128;
    wishes[3].initiator = NVBW_BY_SM;
    wishes[3].flags = NVBW_FLOW_STAGED;
    scene_open(&scene);
    for (size_t i = 0; i < 4; i++) {
        const struct nvbw_flow *const flows[] = { &wishes[i], NULL };
        const struct record *const record = scene_measure(&scene, flows, NULL);

        scene_expect(record, STATE_SKIP, "not_built");
        assert_non_null(strstr(record->message, "this build"));
    }
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_of_odd_sizes_is_compared),
        cmocka_unit_test(misaligned_copies_are_too),
        cmocka_unit_test(times_are_times),
        cmocka_unit_test(a_total_adds_up),
        cmocka_unit_test(a_total_of_few_steps_is_coarse),
        cmocka_unit_test(a_local_copy_reads_and_writes),
        cmocka_unit_test(another_machine_is_an_error),
        cmocka_unit_test(a_hidden_gpu_is_a_skip),
        cmocka_unit_test(a_shortage_is_a_skip_and_no_end),
        cmocka_unit_test(more_copies_than_can_be_queued_are_refused),
        cmocka_unit_test(what_is_not_built_is_never_ignored),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
