/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The engine on the simulated driver, whose GPUs move 50 GB/s each way and
 * take no time beside: figures are known to the digit. */
#include "engine.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "state.h"
#include "stats.h"
#include "topology.h"

enum { GPUS = 4, MIB = 1 << 20 };

static struct arena machine_arena;
static struct facts facts;
static struct engine *engine;

static uint32_t gpus[GPUS] = { 0, 1, 2, 3 };
static uint32_t nodes[] = { 0 };
static struct unit_shape shapes[] = {
    { .metric = "bandwidth",
        .unit = NVBW_UNIT_BYTES_PER_SECOND,
        .rows = 1,
        .cols = GPUS },
    { .metric = "total",
        .unit = NVBW_UNIT_BYTES_PER_SECOND,
        .rows = 1,
        .cols = GPUS },
};
static const struct unit unit = { .plugin = "test",
    .testcase = "test",
    .gpus = gpus,
    .gpus_count = GPUS,
    .nodes = nodes,
    .nodes_count = 1,
    .shapes = shapes,
    .shapes_count = 2 };

static const struct nvbw_cell cell = NVBW_CELL("bandwidth", 0, 0);
static const struct nvbw_cell total = NVBW_CELL("total", 0, 0);
static const struct nvbw_flow down = { .size = sizeof down,
    .initiator = NVBW_BY_CE,
    .operation = NVBW_OP_COPY,
    .src_memory = NVBW_MEM_PINNED,
    .dst_memory = NVBW_MEM_DEVICE,
    .src_place = NVBW_NEAR,
    .cell = &cell };
static const struct nvbw_flow up = { .size = sizeof up,
    .initiator = NVBW_BY_CE,
    .operation = NVBW_OP_COPY,
    .src_memory = NVBW_MEM_DEVICE,
    .dst_memory = NVBW_MEM_PINNED,
    .dst_place = NVBW_NEAR,
    .cell = &cell };

/* One measurement. */
struct scene {
    struct arena arena;
    struct measure_request request;
    struct measure_result result;
    struct error err;
};

static void start(struct scene *scene)
{
    memset(scene, 0, sizeof *scene);
    arena_init(&scene->arena, 64 << 20);
    scene->request.unit = &unit;
    scene->request.params = (struct measure_params){ .buffer_bytes = MIB / 4,
        .copies = 4,
        .samples = 3,
        .min_samples = 6,
        .max_samples = 6,
        .warmup = 2,
        .precision = 0.005,
        .precision_contended = 0.02,
        .verify = 1,
        .gate = 1 };
}

static const struct record *measure(struct scene *scene,
    const struct nvbw_flow *const *flows, const struct nvbw_cell *wanted_total)
{
    scene->request.flows = flows;
    scene->request.total = wanted_total;

    const int32_t status = engine_measure(
        engine, &scene->request, &scene->arena, &scene->result, &scene->err);

    if (status != NVBW_OK) {
        fail_msg("engine_measure: %s", scene->err.text);
    }
    return &scene->result.records[0];
}

static void expect_figure(
    const struct record *record, double expected, double share)
{
    struct stats stats;

    if (record->state != STATE_MEASURED) {
        fail_msg("state %s, reason %s: %s", name_of(state_names, record->state),
            record->reason != NULL ? record->reason : "none",
            record->message != NULL ? record->message : "no message");
    }
    stats_of(record->samples, record->samples_count, &stats);
    if (fabs(stats.median - expected) > share * expected) {
        fail_msg("%.4g measured, %.4g expected", stats.median, expected);
    }
}

static void one_way_is_the_link(void **state)
{
    const struct nvbw_flow *const flows[] = { &down, NULL };
    struct scene scene;

    (void)state;
    start(&scene);

    const struct record *const record = measure(&scene, flows, NULL);

    expect_figure(record, 50e9, 1e-3);
    assert_string_equal(record->verified, "all");
    assert_string_equal(record->clock, "events");
    assert_string_equal(record->mode, "adaptive");
    assert_int_equal(record->copy_bytes, MIB / 4);
    assert_true(record->copies >= 96);
    assert_true(record->clock_gap_ns < 50e3);
    assert_int_equal(record->flows_count, 1);
    assert_int_equal(record->flows[0].copies, record->copies);
    arena_clear(&scene.arena);
}

static void the_way_back_is_too(void **state)
{
    const struct nvbw_flow *const flows[] = { &up, NULL };
    struct scene scene;

    (void)state;
    start(&scene);
    expect_figure(measure(&scene, flows, NULL), 50e9, 1e-3);
    arena_clear(&scene.arena);
}

/* Five slices of 64 MiB to outrun the cache, of which a sample of 4 ms takes
 * three. All that a sample moves is compared, also what goes back to memory
 * that is not poisoned again. */
static void samples_take_turns_in_what_outruns_the_cache(void **state)
{
    const struct nvbw_flow *const both[][2] = { { &down, NULL },
        { &up, NULL } };
    const uint64_t before = facts.nodes[0].cache_bytes;

    (void)state;
    for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
        struct scene scene;

        start(&scene);
        scene.request.params.buffer_bytes = 64 * (uint64_t)MIB;
        facts.nodes[0].cache_bytes = 80 * (uint64_t)MIB;

        const struct record *const record = measure(&scene, both[i], NULL);

        expect_figure(record, 50e9, 1e-3);
        assert_int_equal(record->copies, 3);
        assert_int_equal(record->footprint_bytes, 2 * 5 * 64 * (uint64_t)MIB);
        assert_int_equal(record->verified_bytes,
            record->samples_count * 3 * 64 * (uint64_t)MIB);
        assert_int_equal(record->flags_count, 0);
        arena_clear(&scene.arena);
    }
    facts.nodes[0].cache_bytes = before;
}

static void background_covers_and_counts_in_the_total(void **state)
{
    struct nvbw_flow behind = up;
    const struct nvbw_flow *const flows[] = { &down, &behind, NULL };
    struct scene scene;

    (void)state;
    behind.cell = NULL;
    behind.flags = NVBW_FLOW_BACKGROUND;
    start(&scene);

    const struct record *const record = measure(&scene, flows, &total);

    expect_figure(record, 50e9, 1e-3);
    assert_int_equal(scene.result.records_count, 2);
    expect_figure(&scene.result.records[1], 100e9, 0.05);
    assert_true(record->cover_margin > 0.0);
    assert_true(record->flows[1].copies >= 33);
    assert_int_equal(record->flows[1].counted, 0);
    arena_clear(&scene.arena);
}

static void fixed_mode_has_one_buffer(void **state)
{
    const struct nvbw_flow *const flows[] = { &down, NULL };
    struct scene scene;

    (void)state;
    start(&scene);
    scene.request.params.fixed = 1;
    scene.request.params.buffer_bytes = 16 * MIB;

    const struct record *const record = measure(&scene, flows, NULL);

    expect_figure(record, 50e9, 1e-2);
    assert_string_equal(record->verified, "last copy");
    assert_int_equal(record->samples_count, 3);
    assert_int_equal(record->copies, 4);
    assert_int_equal(record->warmup, 2);
    arena_clear(&scene.arena);
}

static void pageable_memory_is_never_gated(void **state)
{
    struct nvbw_flow pageable = down;
    const struct nvbw_flow *const flows[] = { &pageable, NULL };
    struct scene scene;

    (void)state;
    pageable.src_memory = NVBW_MEM_PAGEABLE;
    start(&scene);
    expect_figure(measure(&scene, flows, NULL), 10e9, 5e-2);
    arena_clear(&scene.arena);
}

static void between_gpus(void **state)
{
    struct nvbw_flow peer = up;
    const struct nvbw_flow *const flows[] = { &peer, NULL };
    struct scene scene;

    (void)state;
    peer.dst_memory = NVBW_MEM_DEVICE;
    peer.dst_place = 1;
    start(&scene);
    expect_figure(measure(&scene, flows, NULL), 100e9, 1e-2);
    assert_int_equal(scene.result.records[0].gpus_count, 2);
    arena_clear(&scene.arena);
}

static void more_memory_than_there_is_is_skipped(void **state)
{
    struct nvbw_flow large = up;
    const struct nvbw_flow *const flows[] = { &large, NULL };
    struct scene scene;

    (void)state;
    large.bytes = UINT64_C(64) << 30;
    large.dst_memory = NVBW_MEM_DEVICE;
    start(&scene);

    const struct record *const record = measure(&scene, flows, NULL);

    assert_int_equal(record->state, STATE_SKIP);
    assert_string_equal(record->reason, "memory");
    assert_non_null(strstr(record->message, "MiB free"));
    arena_clear(&scene.arena);
}

static void an_initiator_without_kernels_is_not_built(void **state)
{
    struct nvbw_flow tma = down;
    const struct nvbw_flow *const flows[] = { &tma, NULL };
    struct scene scene;

    (void)state;
    tma.initiator = 7;
    start(&scene);
    assert_int_equal(measure(&scene, flows, NULL)->state, STATE_SKIP);
    arena_clear(&scene.arena);
}

static void healthy_gpus_are_found_so(void **state)
{
    struct error err = { 0 };

    (void)state;
    assert_int_equal(
        engine_health(engine, gpus, GPUS, UINT64_C(1000000000), &err), NVBW_OK);
}

static int open_machine(void **state)
{
    struct engine_setup setup = { .facts = &facts,
        .driver_file = SIM_LIBRARY,
        .pool_limit_bytes = 256 * MIB };
    struct error err = { 0 };

    (void)state;
    setenv("NVBW_SIM_PROFILE", "laptop_x4", 1);
    arena_init(&machine_arena, 64 << 20);
    if (topology_read(SIM_LIBRARY, &machine_arena, &facts, &err) < 0 ||
        facts.gpus_count != GPUS) {
        fail_msg("%u GPUs found: %s", facts.gpus_count,
            facts.driver_trouble != NULL ? facts.driver_trouble : err.text);
    }
    return engine_open(&setup, &engine, &err);
}

static int close_machine(void **state)
{
    (void)state;
    engine_close(engine);
    arena_clear(&machine_arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_way_is_the_link),
        cmocka_unit_test(the_way_back_is_too),
        cmocka_unit_test(samples_take_turns_in_what_outruns_the_cache),
        cmocka_unit_test(background_covers_and_counts_in_the_total),
        cmocka_unit_test(fixed_mode_has_one_buffer),
        cmocka_unit_test(pageable_memory_is_never_gated),
        cmocka_unit_test(between_gpus),
        cmocka_unit_test(more_memory_than_there_is_is_skipped),
        cmocka_unit_test(an_initiator_without_kernels_is_not_built),
        cmocka_unit_test(healthy_gpus_are_found_so),
    };

    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
