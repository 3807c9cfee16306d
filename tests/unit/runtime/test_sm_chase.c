/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Latency by GPUs on the simulated driver: 1000 ns to the host, 800 to a
 * peer, 300 to own memory, no cost of a launch, 8 SMs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engine_scene.h"
#include "state.h"

enum { UNITS = 8, LINE = 128 };

static const struct nvbw_cell cell = NVBW_CELL("latency", 0, 0);
static const struct nvbw_cell total = NVBW_CELL("time", 0, 0);

static struct nvbw_flow chase_over(uint32_t memory, int32_t place)
{
    struct nvbw_flow flow = { .size = sizeof flow,
        .initiator = NVBW_BY_SM,
        .operation = NVBW_OP_CHASE,
        .src_memory = memory,
        .src_place = place,
        .stride = LINE,
        .bytes = 2 * MIB,
        .cell = &cell };

    return flow;
}

static const struct record *measure(
    struct scene *scene, const struct nvbw_flow *flow)
{
    const struct nvbw_flow *const flows[] = { flow, NULL };

    return scene_measure(scene, flows, NULL);
}

static void a_step_takes_the_latency_of_its_memory(void **state)
{
    const struct {
        uint32_t memory;
        int32_t place;
        double ns;
        uint64_t steps;
    } cases[] = { { NVBW_MEM_PINNED, NVBW_NEAR, 1000.0, 500 },
        { NVBW_MEM_DEVICE, 2, 800.0, 500 },
        { NVBW_MEM_DEVICE, 0, 300.0, 2000 } };
    struct scene scene;

    (void)state;
    scene_open(&scene);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nvbw_flow flow = chase_over(cases[i].memory, cases[i].place);
        const struct record *const stride = measure(&scene, &flow);

        scene_expect_figure(stride, cases[i].ns, 1e-3);
        assert_int_equal(stride->copy_bytes, 2 * MIB);
        assert_int_equal(stride->footprint_bytes, 2 * MIB);
        assert_int_equal(stride->verified_bytes,
            stride->copies * cases[i].steps * 8 * stride->samples_count);
        assert_string_equal(stride->verified, "all");
        flow.stride = 0;
        scene_expect_figure(measure(&scene, &flow), cases[i].ns, 1e-3);
    }
    scene_close(&scene);
}

static void bulk_copies_take_theirs(void **state)
{
    struct nvbw_flow flow = chase_over(NVBW_MEM_DEVICE, 1);
    struct scene scene;

    (void)state;
    flow.initiator = NVBW_BY_TMA;
    scene_open(&scene);
    scene_expect_figure(measure(&scene, &flow), 800.0, 1e-3);
    assert_int_equal(scene.result.records[0].flows[0].initiator, NVBW_BY_TMA);
    scene_close(&scene);
}

/* A million steps in all, as nvbandwidth, however many samples. */
static void fixed_mode_has_its_own_sizes(void **state)
{
    const struct nvbw_flow flow = chase_over(NVBW_MEM_DEVICE, 1);
    struct scene scene;

    (void)state;
    scene_open(&scene);
    scene.request.params.fixed = 1;
    scene.request.params.samples = 2;

    const struct record *const record = measure(&scene, &flow);

    scene_expect_figure(record, 800.0, 1e-3);
    assert_int_equal(record->samples_count, 2);
    assert_int_equal(record->copies, UNITS / 2);
    assert_int_equal(record->verified_bytes, 8 * 1000000);
    scene_close(&scene);
}

static void every_sm_has_its_turn(void **state)
{
    const struct nvbw_flow flow = chase_over(NVBW_MEM_DEVICE, 1);
    struct scene scene;

    (void)state;
    scene_open(&scene);

    const struct record *const record = measure(&scene, &flow);

    assert_false(scene_has_flag(record, "sms_missed"));
    assert_true(fabs(record->spread_low - 800.0) < 1.0);
    assert_true(fabs(record->spread_high - 800.0) < 1.0);
    scene_close(&scene);
}

static void a_small_chain_is_the_cache_s(void **state)
{
    struct nvbw_flow flow = chase_over(NVBW_MEM_DEVICE, 1);
    struct scene scene;

    (void)state;
    scene_open(&scene);
    assert_true(scene_has_flag(measure(&scene, &flow), "cache_bound"));
    flow.stride = 0;
    flow.bytes = 20 * scene.facts.gpus[1].l2_bytes;
    assert_false(scene_has_flag(measure(&scene, &flow), "cache_bound"));
    scene_close(&scene);
}

static void a_total_is_the_time_of_all(void **state)
{
    const struct nvbw_flow flow = chase_over(NVBW_MEM_DEVICE, 1);
    const struct nvbw_flow *const flows[] = { &flow, NULL };
    struct scene scene;

    (void)state;
    scene_open(&scene);

    const struct record *const record = scene_measure(&scene, flows, &total);

    assert_int_equal(scene.result.records_count, 2);
    scene_expect_figure(record, 800.0, 1e-3);
    scene_expect_figure(&record[1], 800.0 * 500 * (double)record->copies, 1e-3);
    scene_close(&scene);
}

static void what_no_chain_fits_is_skipped(void **state)
{
    struct nvbw_flow flow = chase_over(NVBW_MEM_DEVICE, 1);
    struct scene scene;

    (void)state;
    scene_open(&scene);
    flow.stride = 100;
    scene_expect(measure(&scene, &flow), STATE_SKIP, "memory");
    flow.stride = LINE;
    flow.bytes = LINE;
    scene_expect(measure(&scene, &flow), STATE_SKIP, "memory");
    flow.bytes = 2 * MIB;
    flow.offset = 8;
    scene_expect(measure(&scene, &flow), STATE_ERROR, "contract");
    flow.offset = 0;
    flow.element = 8;
    scene_expect(measure(&scene, &flow), STATE_ERROR, "contract");
    flow.element = 0;
    flow.repeats = 201;
    scene_expect(measure(&scene, &flow), STATE_ERROR, "contract");
    flow.repeats = 3;
    scene_expect(measure(&scene, &flow), STATE_MEASURED, NULL);
    flow.stride = 0;
    scene_expect(measure(&scene, &flow), STATE_ERROR, "contract");
    flow.repeats = 4;
    scene_expect(measure(&scene, &flow), STATE_MEASURED, NULL);
    flow.repeats = 0;
    flow.stride = LINE;
    flow.src_memory = NVBW_MEM_PAGEABLE;
    flow.src_place = NVBW_NEAR;
    scene_expect(measure(&scene, &flow), STATE_ERROR, "contract");
    scene_close(&scene);
}

/* Beside copies a chain keeps the time; behind them it is not to be had. */
static void other_flows_run_beside(void **state)
{
    struct nvbw_flow flow = chase_over(NVBW_MEM_PINNED, NVBW_NEAR);
    struct nvbw_flow copy = scene_up;
    const struct nvbw_cell bandwidth = NVBW_CELL("bandwidth", 0, 0);
    const struct nvbw_flow *const first[] = { &flow, &copy, NULL };
    const struct nvbw_flow *const second[] = { &copy, &flow, NULL };
    struct scene scene;

    (void)state;
    scene_open(&scene);
    copy.flags = NVBW_FLOW_BACKGROUND;
    scene_expect_figure(scene_measure(&scene, first, NULL), 1000.0, 1e-3);
    copy.flags = 0;
    copy.cell = &bandwidth;
    scene_measure(&scene, second, NULL);
    scene_expect_figure(&scene.result.records[1], 1000.0, 1e-3);
    flow.stride = 0;
    scene_expect(scene_measure(&scene, second, NULL), STATE_ERROR, "contract");
    flow.cell = NULL;
    flow.flags = NVBW_FLOW_BACKGROUND;
    scene_expect(scene_measure(&scene, second, NULL), STATE_SKIP, "not_built");
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_takes_the_latency_of_its_memory),
        cmocka_unit_test(bulk_copies_take_theirs),
        cmocka_unit_test(fixed_mode_has_its_own_sizes),
        cmocka_unit_test(every_sm_has_its_turn),
        cmocka_unit_test(a_small_chain_is_the_cache_s),
        cmocka_unit_test(a_total_is_the_time_of_all),
        cmocka_unit_test(what_no_chain_fits_is_skipped),
        cmocka_unit_test(other_flows_run_beside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
