/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Single accesses on simulated GPUs, whose memory copies 500 GB/s and reads or
 * writes 1000, in sectors of 32 bytes: what is useful of that, and that nothing
 * goes unseen which is left out or touched without need. */
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

#include "access_place.h"
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

static const struct record *measure(
    struct scene *scene, const struct nvbw_flow *flow)
{
    const struct nvbw_flow *const flows[] = { flow, NULL };

    scene->request.flows = flows;

    const int32_t status = engine_measure(
        engine, &scene->request, &scene->arena, &scene->result, &scene->err);

    if (status != NVBW_OK) {
        fail_msg("engine_measure: %s", scene->err.text);
    }
    return &scene->result.records[0];
}

static struct nvbw_flow make_flow(
    uint32_t operation, uint32_t element, uint32_t step)
{
    const int reads = operation != NVBW_OP_WRITE;
    const int writes = operation != NVBW_OP_READ;

    return (struct nvbw_flow){ .size = sizeof(struct nvbw_flow),
        .initiator = NVBW_BY_SM,
        .operation = operation,
        .src_memory = reads ? NVBW_MEM_DEVICE : NVBW_MEM_NONE,
        .dst_memory = writes ? NVBW_MEM_DEVICE : NVBW_MEM_NONE,
        .stride = step > 0 ? step * element : NVBW_STRIDE_RANDOM,
        .element = element,
        .bytes = MIB,
        .cell = &cell };
}

/* What is done to the arguments of kernels that access. */
static void (*spoil)(struct access_args *args);

int32_t __real_gpu_launch_sm(const struct gpu *gpu, uint32_t kernel,
    struct CUstream_st *stream, void *args, uint64_t blocks, struct error *err);
int32_t __wrap_gpu_launch_sm(const struct gpu *gpu, uint32_t kernel,
    struct CUstream_st *stream, void *args, uint64_t blocks, struct error *err);
int32_t __wrap_gpu_launch_sm(const struct gpu *gpu, uint32_t kernel,
    struct CUstream_st *stream, void *args, uint64_t blocks, struct error *err)
{
    struct access_args access_args;

    if (spoil == NULL || kernel < SM_KERNEL_access_copy ||
        kernel > SM_KERNEL_access_write) {
        return __real_gpu_launch_sm(gpu, kernel, stream, args, blocks, err);
    }
    memcpy(&access_args, args, sizeof access_args);
    spoil(&access_args);
    return __real_gpu_launch_sm(gpu, kernel, stream, &access_args, blocks, err);
}

static double figure_of(const struct record *record)
{
    struct stats stats;

    if (record->state != STATE_MEASURED) {
        fail_msg("state %s, reason %s: %s", name_of(state_names, record->state),
            record->reason != NULL ? record->reason : "none",
            record->message != NULL ? record->message : "no message");
    }
    stats_of(record->samples, record->samples_count, &stats);
    return stats.median;
}

static double rate_of(uint32_t operation)
{
    return operation == NVBW_OP_COPY ? 500e9 : 1000e9;
}

static const uint32_t operations[] = { NVBW_OP_COPY, NVBW_OP_READ,
    NVBW_OP_WRITE };
enum { OPERATIONS = 3, WIDTHS = 3 };

/* The part of what is moved that is accessed. */
static void figures_are_what_sectors_leave(void **state)
{
    static const struct {
        uint32_t step;
        double part[WIDTHS]; /* of accesses of 4, 8 and 16 bytes */
    } rows[] = {
        { 1, { 1.0, 1.0, 1.0 } },
        { 2, { 0.5, 0.5, 0.5 } },
        { 3, { 1 / 3.0, 1 / 3.0, 0.5 } },
        { 4, { 0.25, 0.25, 0.5 } },
        { 8, { 0.125, 0.25, 0.5 } },
        { 64, { 0.125, 0.25, 0.5 } },
        { 0, { 0.125, 0.25, 0.5 } },
    };
    const uint32_t count = sizeof rows / sizeof rows[0];

    (void)state;
    for (uint32_t i = 0; i < OPERATIONS * WIDTHS * count; i++) {
        const uint32_t operation = operations[i % OPERATIONS];
        const uint32_t width = i / OPERATIONS % WIDTHS;
        const uint32_t row = i / OPERATIONS / WIDTHS;
        struct nvbw_flow flow =
            make_flow(operation, 4u << width, rows[row].step);
        struct scene scene;

        /* Enough for a clock's tick to be nothing. */
        flow.bytes = rows[row].step > 8 ? 8 * MIB : MIB;
        start(&scene);

        const struct record *const record = measure(&scene, &flow);
        const double wanted = rate_of(operation) * rows[row].part[width];
        const double got = figure_of(record);

        if (fabs(got - wanted) > 1e-3 * wanted) {
            fail_msg("operation %u, %u bytes, stride %u: %.4g, not %.4g",
                operation, 4u << width, rows[row].step, got, wanted);
        }
        assert_int_equal(record->mismatches, 0);
        assert_string_equal(
            record->verified, operation == NVBW_OP_READ ? "sum" : "last copy");
        assert_true(record->verified_bytes > 0);
        arena_clear(&scene.arena);
    }
}

/* Ends that leave half a word or an element without an access, and begins that
 * are aligned to nothing but the element. */
static void odd_sizes_and_offsets_arrive(void **state)
{
    static const uint64_t sizes[] = { 4, 8, 20, 1000, 4100 * 4 + 3 };

    (void)state;
    for (uint32_t i = 0; i < OPERATIONS * 5 * 4; i++) {
        struct nvbw_flow flow = make_flow(operations[i % OPERATIONS], 4,
            i / OPERATIONS / 5); /* 0: at random */
        struct scene scene;

        flow.bytes = sizes[i / OPERATIONS % 5];
        flow.offset = 4 * (i % 7);
        start(&scene);

        const struct record *const record = measure(&scene, &flow);

        assert_true(figure_of(record) > 0);
        assert_int_equal(record->mismatches, 0);
        arena_clear(&scene.arena);
    }
}

static void leave_one_out(struct access_args *args)
{
    args->accesses -= args->bits > 0 ? 0 : 1;
    args->bits -= args->bits > 0 ? 1 : 0;
    args->accesses >>= args->bits > 0 ? 1 : 0;
}

static void touch_all(struct access_args *args)
{
    args->accesses *= args->step;
    args->step = 1;
}

static void go_elsewhere(struct access_args *args)
{
    args->step = 4;
    args->accesses /= 2;
}

static void expect_wrong(
    void (*how)(struct access_args *args), uint32_t operation, uint32_t step)
{
    const struct nvbw_flow flow = make_flow(operation, 4, step);
    struct scene scene;

    start(&scene);
    spoil = how;

    const struct record *const record = measure(&scene, &flow);

    spoil = NULL;
    assert_int_equal(record->state, STATE_MISMATCH);
    assert_string_equal(record->reason, "wrong_data");
    assert_true(record->mismatches > 0);
    if (operation != NVBW_OP_READ) {
        assert_true(record->mismatch_expected != record->mismatch_actual);
    }
    arena_clear(&scene.arena);
}

static void what_is_left_out_or_touched_shows(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        expect_wrong(leave_one_out, operations[i], 2);
        expect_wrong(leave_one_out, operations[i], 0);
        expect_wrong(touch_all, operations[i], 2);
        expect_wrong(go_elsewhere, operations[i], 2);
    }
}

static void what_cannot_be_is_refused(void **state)
{
    struct nvbw_flow flows[4];

    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        flows[i] = make_flow(NVBW_OP_COPY, 8, 2);
    }
    flows[0].stride = 12;
    flows[1].offset = 4;
    flows[2].element = 2;
    flows[3].bytes = 7;
    for (uint32_t i = 0; i < 4; i++) {
        struct scene scene;

        start(&scene);
        assert_int_equal(measure(&scene, &flows[i])->state,
            i < 2 ? STATE_ERROR : STATE_SKIP);
        arena_clear(&scene.arena);
    }
}

/* Each place has its access, and neighbours do not stay together. */
static void random_places_are_all_places(void **state)
{
    static unsigned char seen[1 << 16];

    (void)state;
    for (uint64_t bits = 1; bits <= 16; bits++) {
        const uint64_t count = UINT64_C(1) << bits;
        uint64_t near = 0;

        memset(seen, 0, sizeof seen);
        for (uint64_t i = 0; i < count; i++) {
            const uint64_t place = access_place(i, bits);
            const uint64_t next = access_place((i + 1) % count, bits);

            assert_true(place < count);
            assert_int_equal(seen[place]++, 0);
            near += place / 8 == next / 8;
        }
        assert_true(bits < 10 || near * 50 < count);
    }
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_what_sectors_leave),
        cmocka_unit_test(odd_sizes_and_offsets_arrive),
        cmocka_unit_test(what_is_left_out_or_touched_shows),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(random_places_are_all_places),
    };

    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
