/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Kernels that move bytes, on simulated GPUs: 50 GB/s with the host each way,
 * 100 between GPUs, 500 copied within one, 1000 read or written. */
#include "engine.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "gpu.h"
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
    .initiator = NVBW_BY_SM,
    .operation = NVBW_OP_COPY,
    .src_memory = NVBW_MEM_PINNED,
    .dst_memory = NVBW_MEM_DEVICE,
    .src_place = NVBW_NEAR,
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
    scene->request.params = (struct measure_params){ .buffer_bytes = 4 * MIB,
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

static struct nvbw_flow make_flow(
    uint32_t operation, uint32_t src, uint32_t dst)
{
    struct nvbw_flow flow = down;

    flow.operation = operation;
    flow.src_memory = src;
    flow.dst_memory = dst;
    flow.src_place = 0;
    flow.repeats = 4; /* what the pilot would choose takes a CPU too long */
    return flow;
}

/* Sizes with and without whole vectors, tiles, blocks and halves, at offsets
 * that leave vectors, words or nothing aligned. */
static const struct odd_size {
    uint64_t bytes, offset;
} odd_sizes[] = { { 1, 0 }, { 15, 4 }, { 16, 0 }, { 33, 8 }, { 4095, 1 },
    { MIB - 16, 0 }, { MIB + 5, 8 } };

static const struct odd_row {
    uint32_t initiator, operation, src, dst;
} odd_rows[] = {
    { NVBW_BY_SM, NVBW_OP_COPY, NVBW_MEM_PINNED, NVBW_MEM_DEVICE },
    { NVBW_BY_SM, NVBW_OP_COPY, NVBW_MEM_DEVICE, NVBW_MEM_DEVICE },
    { NVBW_BY_SM, NVBW_OP_SPLIT, NVBW_MEM_DEVICE, NVBW_MEM_PINNED },
    { NVBW_BY_SM, NVBW_OP_READ, NVBW_MEM_DEVICE, NVBW_MEM_NONE },
    { NVBW_BY_SM, NVBW_OP_WRITE, NVBW_MEM_NONE, NVBW_MEM_DEVICE },
    { NVBW_BY_TMA, NVBW_OP_COPY, NVBW_MEM_DEVICE, NVBW_MEM_DEVICE },
    { NVBW_BY_TMA, NVBW_OP_COPY, NVBW_MEM_DEVICE, NVBW_MEM_PINNED },
};

static void measure_odd(
    const struct odd_row *row, uint64_t bytes, uint64_t offset)
{
    struct nvbw_flow flow = make_flow(row->operation, row->src, row->dst);
    const struct nvbw_flow *const flows[] = { &flow, NULL };
    struct scene scene;

    flow.initiator = row->initiator;
    flow.bytes = bytes;
    flow.offset = offset;
    start(&scene);
    scene.request.params.fixed = 1;
    scene.request.params.samples = 1;

    const struct record *const record = measure(&scene, flows, NULL);

    if (record->state != STATE_MEASURED) {
        fail_msg("initiator %u, operation %u, %u bytes at %u: %s",
            row->initiator, row->operation, (unsigned)bytes, (unsigned)offset,
            record->message);
    }
    assert_int_equal(record->verified_bytes,
        row->operation == NVBW_OP_READ ? 4 * bytes : bytes);
    arena_clear(&scene.arena);
}

static void any_size_arrives_whole(void **state)
{
    (void)state;
    for (size_t row = 0; row < sizeof odd_rows / sizeof *odd_rows; row++) {
        for (size_t i = 0; i < sizeof odd_sizes / sizeof *odd_sizes; i++) {
            measure_odd(
                &odd_rows[row], odd_sizes[i].bytes, odd_sizes[i].offset);
        }
    }
}

static const struct rate_row {
    uint32_t operation, src, dst;
    int32_t dst_place;
    double rate;
    const char *verified;
} rate_rows[] = {
    { NVBW_OP_COPY, NVBW_MEM_PINNED, NVBW_MEM_DEVICE, 0, 50e9, "all" },
    { NVBW_OP_COPY, NVBW_MEM_DEVICE, NVBW_MEM_PINNED, 0, 50e9, "all" },
    { NVBW_OP_COPY, NVBW_MEM_DEVICE, NVBW_MEM_DEVICE, 0, 500e9, "all" },
    { NVBW_OP_COPY, NVBW_MEM_DEVICE, NVBW_MEM_DEVICE, 1, 100e9, "all" },
    { NVBW_OP_READ, NVBW_MEM_DEVICE, NVBW_MEM_NONE, 0, 1000e9, "sum" },
    { NVBW_OP_WRITE, NVBW_MEM_NONE, NVBW_MEM_DEVICE, 0, 1000e9, "all" },
};

static void every_operation_is_as_fast_as_its_path(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rate_rows / sizeof *rate_rows; i++) {
        const struct rate_row *const row = &rate_rows[i];
        struct nvbw_flow flow = make_flow(row->operation, row->src, row->dst);
        const struct nvbw_flow *const flows[] = { &flow, NULL };
        struct scene scene;

        flow.dst_place = row->dst_place;
        start(&scene);

        const struct record *const record = measure(&scene, flows, NULL);

        expect_figure(record, row->rate, 1e-2);
        assert_string_equal(record->verified, row->verified);
        arena_clear(&scene.arena);
    }
}

static int is_flagged(const struct record *record, const char *flag)
{
    for (uint32_t i = 0; i < record->flags_count; i++) {
        if (strcmp(record->flags[i], flag) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Local memory moves on between samples, other memory stays. */
static void local_figures_are_of_several_placements(void **state)
{
    static const struct placed_row {
        uint32_t operation, src, dst;
        int32_t dst_place;
        uint32_t fixed, least;
    } rows[] = {
        { NVBW_OP_COPY, NVBW_MEM_DEVICE, NVBW_MEM_DEVICE, 0, 0, 3 },
        { NVBW_OP_READ, NVBW_MEM_DEVICE, NVBW_MEM_NONE, 0, 0, 3 },
        { NVBW_OP_WRITE, NVBW_MEM_NONE, NVBW_MEM_DEVICE, 0, 0, 3 },
        { NVBW_OP_COPY, NVBW_MEM_DEVICE, NVBW_MEM_DEVICE, 1, 0, 0 },
        { NVBW_OP_COPY, NVBW_MEM_PINNED, NVBW_MEM_DEVICE, 0, 0, 0 },
        { NVBW_OP_COPY, NVBW_MEM_DEVICE, NVBW_MEM_DEVICE, 0, 1, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct placed_row *const row = &rows[i];
        struct nvbw_flow flow = make_flow(row->operation, row->src, row->dst);
        const struct nvbw_flow *const flows[] = { &flow, NULL };
        struct scene scene;

        flow.dst_place = row->dst_place;
        start(&scene);
        scene.request.params.fixed = row->fixed;

        const struct record *const record = measure(&scene, flows, NULL);

        assert_int_equal(record->state, STATE_MEASURED);
        assert_int_equal(record->placements, row->least);
        arena_clear(&scene.arena);
    }
}

static uint32_t launches;
static uint64_t cut_bytes; /* that a copy kernel leaves out at its end */

int32_t __real_gpu_launch_sm(const struct gpu *gpu, uint32_t kernel,
    struct CUstream_st *stream, void *args, uint64_t blocks, struct error *err);
int32_t __wrap_gpu_launch_sm(const struct gpu *gpu, uint32_t kernel,
    struct CUstream_st *stream, void *args, uint64_t blocks, struct error *err);
int32_t __wrap_gpu_launch_sm(const struct gpu *gpu, uint32_t kernel,
    struct CUstream_st *stream, void *args, uint64_t blocks, struct error *err)
{
    struct copy_args copy;
    struct read_args read;

    launches++;
    if (cut_bytes > 0 && kernel == SM_KERNEL_read) {
        memcpy(&read, args, sizeof read);
        read.bytes -= cut_bytes;
        read.span = vector_span_of(read.src, read.bytes);
        args = &read;
    } else if (cut_bytes > 0 && kernel != SM_KERNEL_pattern_sum) {
        memcpy(&copy, args, sizeof copy);
        copy.bytes -= cut_bytes;
        args = &copy;
    }
    return __real_gpu_launch_sm(gpu, kernel, stream, args, blocks, err);
}

static uint32_t fills; /* of sources */

int32_t __real_gpu_launch(const struct gpu *gpu, uint32_t kernel,
    struct CUstream_st *stream, void *args, uint64_t bytes, struct error *err);
int32_t __wrap_gpu_launch(const struct gpu *gpu, uint32_t kernel,
    struct CUstream_st *stream, void *args, uint64_t bytes, struct error *err);
int32_t __wrap_gpu_launch(const struct gpu *gpu, uint32_t kernel,
    struct CUstream_st *stream, void *args, uint64_t bytes, struct error *err)
{
    fills += kernel == GPU_KERNEL_fill;
    return __real_gpu_launch(gpu, kernel, stream, args, bytes, err);
}

/* Fills of a source by one more measurement, which must end so. */
static uint32_t fills_until(
    struct scene *scene, const struct nvbw_flow *const *flows, uint32_t state)
{
    fills = 0;
    assert_int_equal(measure(scene, flows, NULL)->state, state);
    return fills;
}

/* A source that stands from flow to flow is believed until a byte is wrong. */
static void a_doubtful_source_is_filled_again(void **state)
{
    static const uint32_t operations[] = { NVBW_OP_READ, NVBW_OP_COPY };

    (void)state;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        struct nvbw_flow flow = make_flow(operations[i], NVBW_MEM_PINNED,
            operations[i] == NVBW_OP_READ ? NVBW_MEM_NONE : NVBW_MEM_DEVICE);
        const struct nvbw_flow *const flows[] = { &flow, NULL };
        struct scene scene;

        start(&scene);
        fills_until(&scene, flows, STATE_MEASURED);
        assert_int_equal(fills_until(&scene, flows, STATE_MEASURED), 0);
        cut_bytes = 8;
        assert_int_equal(fills_until(&scene, flows, STATE_MISMATCH), 0);
        cut_bytes = 0;
        assert_true(fills_until(&scene, flows, STATE_MEASURED) > 0);
        arena_clear(&scene.arena);
    }
}

/* The warm-up and one kernel more, whatever the count of copies; each is
 * verified nevertheless. */
static void large_copies_are_one_kernel(void **state)
{
    struct nvbw_flow peer =
        make_flow(NVBW_OP_COPY, NVBW_MEM_DEVICE, NVBW_MEM_DEVICE);
    const struct nvbw_flow *const flows[] = { &peer, NULL };
    const uint64_t bytes = 128 * (uint64_t)MIB;
    struct scene scene;

    (void)state;
    peer.dst_place = 1;
    start(&scene);
    scene.request.params.buffer_bytes = bytes;
    launches = 0;

    const struct record *record = measure(&scene, flows, NULL);

    assert_int_equal(record->state, STATE_MEASURED);
    assert_true(record->copies > 2);
    assert_int_equal(
        record->verified_bytes, record->samples_count * record->copies * bytes);
    assert_true(launches < 3 * (record->samples_count + 4));
    cut_bytes = 8;
    record = measure(&scene, flows, NULL);
    cut_bytes = 0;
    assert_int_equal(record->state, STATE_MISMATCH);
    arena_clear(&scene.arena);
}

static void bulk_copies_are_as_fast_as_their_path(void **state)
{
    struct nvbw_flow flow =
        make_flow(NVBW_OP_COPY, NVBW_MEM_DEVICE, NVBW_MEM_DEVICE);
    const struct nvbw_flow *const flows[] = { &flow, NULL };
    struct scene scene;

    (void)state;
    flow.initiator = NVBW_BY_TMA;
    start(&scene);
    expect_figure(measure(&scene, flows, NULL), 500e9, 1e-2);
    arena_clear(&scene.arena);
    flow.dst_place = 1;
    start(&scene);
    expect_figure(measure(&scene, flows, NULL), 100e9, 1e-2);
    arena_clear(&scene.arena);
}

static void bulk_copies_take_a_new_gpu(void **state)
{
    struct nvbw_flow flow =
        make_flow(NVBW_OP_COPY, NVBW_MEM_DEVICE, NVBW_MEM_DEVICE);
    const struct nvbw_flow *const flows[] = { &flow, NULL };
    const uint32_t compute = facts.gpus[0].compute;
    struct scene scene;

    (void)state;
    flow.initiator = NVBW_BY_TMA;
    facts.gpus[0].compute = 89;
    start(&scene);

    const struct record *const record = measure(&scene, flows, NULL);

    facts.gpus[0].compute = compute;
    assert_int_equal(record->state, STATE_SKIP);
    assert_string_equal(record->reason, "arch_too_old");
    arena_clear(&scene.arena);
}

/* Both ways at once without a limit of the two together. */
static void a_split_has_half_each_way(void **state)
{
    struct nvbw_flow flow =
        make_flow(NVBW_OP_SPLIT, NVBW_MEM_PINNED, NVBW_MEM_DEVICE);
    const struct nvbw_cell reverse = NVBW_CELL("bandwidth", 0, 1);
    const struct nvbw_flow *const flows[] = { &flow, NULL };
    struct scene scene;

    (void)state;
    flow.reverse_cell = &reverse;
    start(&scene);
    measure(&scene, flows, &total);
    assert_int_equal(scene.result.records_count, 3);
    expect_figure(&scene.result.records[0], 50e9, 1e-2);
    expect_figure(&scene.result.records[1], 50e9, 1e-2);
    expect_figure(&scene.result.records[2], 100e9, 1e-2);
    assert_true(is_flagged(&scene.result.records[0], "half"));
    assert_true(is_flagged(&scene.result.records[1], "half"));
    assert_false(is_flagged(&scene.result.records[2], "half"));
    arena_clear(&scene.arena);
}

/* What goes to the GPU stands in the host's memory, what comes back is new
 * each time, and a sample takes other slices than the one before. */
static void a_split_takes_turns_in_what_outruns_the_cache(void **state)
{
    struct nvbw_flow flow =
        make_flow(NVBW_OP_SPLIT, NVBW_MEM_PINNED, NVBW_MEM_DEVICE);
    const struct nvbw_flow *const flows[] = { &flow, NULL };
    const uint64_t before = facts.nodes[0].cache_bytes;
    const uint64_t bytes = 128 * (uint64_t)MIB;
    struct scene scene;

    (void)state;
    start(&scene);
    scene.request.params.buffer_bytes = bytes;
    facts.nodes[0].cache_bytes = 2 * bytes;

    const struct record *const record = measure(&scene, flows, NULL);

    assert_int_equal(record->state, STATE_MEASURED);
    assert_string_equal(record->verified, "all");
    assert_true(record->copies < 8);
    assert_int_equal(record->footprint_bytes, 2 * 8 * bytes);
    assert_int_equal(
        record->verified_bytes, record->samples_count * record->copies * bytes);
    facts.nodes[0].cache_bytes = before;
    arena_clear(&scene.arena);
}

static void a_split_of_one_buffer_is_verified_too(void **state)
{
    struct nvbw_flow flow =
        make_flow(NVBW_OP_SPLIT, NVBW_MEM_DEVICE, NVBW_MEM_DEVICE);
    const struct nvbw_flow *const flows[] = { &flow, NULL };
    struct scene scene;

    (void)state;
    flow.dst_place = 1;
    start(&scene);
    scene.request.params.fixed = 1;

    const struct record *const record = measure(&scene, flows, NULL);

    assert_int_equal(record->state, STATE_MEASURED);
    assert_string_equal(record->verified, "last copy");
    assert_int_equal(record->verified_bytes, 3 * 4 * MIB);
    arena_clear(&scene.arena);
}

/* Two flows of one GPU, to two others. */
static void measure_two(struct scene *scene)
{
    struct nvbw_flow one =
        make_flow(NVBW_OP_COPY, NVBW_MEM_DEVICE, NVBW_MEM_DEVICE);
    struct nvbw_flow other = one;
    const struct nvbw_flow *const flows[] = { &one, &other, NULL };

    one.cell = NULL;
    one.dst_place = 1;
    other.cell = NULL;
    other.dst_place = 2;
    start(scene);
    measure(scene, flows, &total);
}

static void flows_of_one_gpu_run_together(void **state)
{
    struct scene scene;

    (void)state;
    measure_two(&scene);
    assert_int_equal(scene.result.records[0].state, STATE_MEASURED);
    arena_clear(&scene.arena);
}

static void flows_one_after_another_are_invalid(void **state)
{
    struct scene scene;

    (void)state;
    measure_two(&scene);
    assert_int_equal(scene.result.records[0].state, STATE_INVALID);
    assert_string_equal(scene.result.records[0].reason, "serialised");
    arena_clear(&scene.arena);
}

static void strides_are_for_other_kernels(void **state)
{
    struct nvbw_flow flow = down;
    const struct nvbw_flow *const flows[] = { &flow, NULL };
    struct scene scene;

    (void)state;
    flow.initiator = NVBW_BY_TMA;
    flow.stride = 64;
    start(&scene);
    assert_int_equal(measure(&scene, flows, NULL)->state, STATE_ERROR);
    arena_clear(&scene.arena);
    flow.stride = 0;
    flow.element = 4;
    start(&scene);
    assert_int_equal(measure(&scene, flows, NULL)->state, STATE_ERROR);
    arena_clear(&scene.arena);
}

/* Events so fine that a single byte takes a time. */
static void use_profile(void)
{
    static const char text[] = "base = \"laptop_x4\"; name = \"fine\"; "
                               "event_resolution_ns = 0.000001;";
    const int file = memfd_create("profile", 0);
    char path[64];

    assert_int_equal(write(file, text, sizeof text - 1), (int)sizeof text - 1);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    setenv("NVBW_SIM_PROFILE", path, 1);
}

static int open_machine(void **state)
{
    struct engine_setup setup = { .facts = &facts,
        .driver_file = SIM_LIBRARY,
        .pool_limit_bytes = 256 * MIB };
    struct error err = { 0 };

    (void)state;
    use_profile();
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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_size_arrives_whole),
        cmocka_unit_test(every_operation_is_as_fast_as_its_path),
        cmocka_unit_test(local_figures_are_of_several_placements),
        cmocka_unit_test(large_copies_are_one_kernel),
        cmocka_unit_test(a_doubtful_source_is_filled_again),
        cmocka_unit_test(bulk_copies_are_as_fast_as_their_path),
        cmocka_unit_test(bulk_copies_take_a_new_gpu),
        cmocka_unit_test(a_split_has_half_each_way),
        cmocka_unit_test(a_split_takes_turns_in_what_outruns_the_cache),
        cmocka_unit_test(a_split_of_one_buffer_is_verified_too),
        cmocka_unit_test(flows_of_one_gpu_run_together),
        cmocka_unit_test(strides_are_for_other_kernels),
    };
    const struct CMUnitTest serial[] = {
        cmocka_unit_test(flows_one_after_another_are_invalid),
    };

    (void)argv;
    return argc > 1
               ? cmocka_run_group_tests(serial, open_machine, close_machine)
               : cmocka_run_group_tests(tests, open_machine, close_machine);
}
