/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The operations of STREAM on simulated GPUs whose memory moves 1000 GB/s, read
 * and written, and whose L2 of 4 MiB moves 3000: the figures, and that nothing
 * that a kernel leaves out goes unseen. */
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
#include "numbers.h"
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

static struct nvbw_flow make_flow(uint32_t operation, uint64_t bytes)
{
    const int is_dot = operation == NVBW_OP_DOT;

    return (struct nvbw_flow){ .size = sizeof(struct nvbw_flow),
        .initiator = NVBW_BY_SM,
        .operation = operation,
        .src_memory = NVBW_MEM_DEVICE,
        .dst_memory = is_dot ? NVBW_MEM_NONE : NVBW_MEM_DEVICE,
        .bytes = bytes,
        .cell = &cell };
}

/* What is left out of the last kernel of a sample: bytes at the end, laps. */
static uint64_t cut_bytes, cut_laps;
static uint32_t stream_launches;

int32_t __real_gpu_launch_sm(const struct gpu *gpu, uint32_t kernel,
    struct CUstream_st *stream, void *args, uint64_t blocks, struct error *err);
int32_t __wrap_gpu_launch_sm(const struct gpu *gpu, uint32_t kernel,
    struct CUstream_st *stream, void *args, uint64_t blocks, struct error *err);
int32_t __wrap_gpu_launch_sm(const struct gpu *gpu, uint32_t kernel,
    struct CUstream_st *stream, void *args, uint64_t blocks, struct error *err)
{
    struct stream_args stream_args;

    if (kernel < SM_KERNEL_stream_copy || kernel > SM_KERNEL_stream_dot) {
        return __real_gpu_launch_sm(gpu, kernel, stream, args, blocks, err);
    }
    stream_launches++;
    memcpy(&stream_args, args, sizeof stream_args);
    stream_args.bytes -= cut_bytes;
    stream_args.laps -= stream_args.laps > 1 ? cut_laps : 0;
    return __real_gpu_launch_sm(gpu, kernel, stream, &stream_args, blocks, err);
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

static int is_flagged(const struct record *record, const char *flag)
{
    for (uint32_t i = 0; i < record->flags_count; i++) {
        if (strcmp(record->flags[i], flag) == 0) {
            return 1;
        }
    }
    return 0;
}

static const struct operation {
    uint32_t number, arrays;
} operations[] = {
    { NVBW_OP_STREAM_COPY, 2 },
    { NVBW_OP_SCALE, 2 },
    { NVBW_OP_ADD, 3 },
    { NVBW_OP_TRIAD, 3 },
    { NVBW_OP_DOT, 2 },
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

/* Arrays that the L2 holds together, and such as it does not. */
static void figures_are_the_memorys_or_the_caches(void **state)
{
    static const struct {
        uint64_t bytes;
        double rate;
    } sizes[] = { { MIB, 3000e9 }, { 64 * MIB, 1000e9 } };

    (void)state;
    for (uint32_t i = 0; i < OPERATIONS * 2; i++) {
        const struct operation *const one = &operations[i / 2];
        const struct nvbw_flow flow =
            make_flow(one->number, sizes[i % 2].bytes);
        struct scene scene;

        start(&scene);

        const struct record *const record = measure(&scene, &flow);
        const double wanted = sizes[i % 2].rate;
        const double got = figure_of(record);

        assert_true(fabs(got - wanted) < 1e-3 * wanted);
        assert_int_equal(is_flagged(record, "cache_bound"), i % 2 == 0);
        assert_int_equal(
            record->footprint_bytes, one->arrays * sizes[i % 2].bytes);
        assert_string_equal(
            record->verified, one->number == NVBW_OP_DOT ? "sum" : "last copy");
        assert_true(record->verified_bytes > 0);
        assert_int_equal(record->mismatches, 0);
        arena_clear(&scene.arena);
    }
}

/* Small arrays are not a matter of launches: those of a sample are one. */
static void copies_of_small_arrays_are_laps(void **state)
{
    const struct nvbw_flow flow = make_flow(NVBW_OP_TRIAD, MIB);
    struct scene scene;

    (void)state;
    stream_launches = 0;
    start(&scene);

    const struct record *const record = measure(&scene, &flow);

    assert_true(record->copies > 1000);
    assert_true(stream_launches < 4 * (record->samples_count + 8));
    arena_clear(&scene.arena);
}

/* Whole vectors only. */
static void odd_sizes_are_cut(void **state)
{
    struct scene scene;

    (void)state;
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        const struct nvbw_flow flow =
            make_flow(operations[i].number, 12345 * 16 + 15);

        start(&scene);

        const struct record *const record = measure(&scene, &flow);

        assert_true(figure_of(record) > 0);
        assert_int_equal(record->copy_bytes, 12345 * 16);
        arena_clear(&scene.arena);
    }

    const struct nvbw_flow none = make_flow(NVBW_OP_ADD, 15);

    start(&scene);
    assert_int_equal(measure(&scene, &none)->state, STATE_SKIP);
    arena_clear(&scene.arena);
}

/* A tail that is left out shows in every operation, a lap in dot: the others
 * write the same again. */
static void what_is_left_out_shows(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        const struct nvbw_flow flow = make_flow(operations[i].number, MIB);
        struct scene scene;

        start(&scene);
        cut_bytes = SM_VECTOR;

        const struct record *const record = measure(&scene, &flow);

        cut_bytes = 0;
        assert_int_equal(record->state, STATE_MISMATCH);
        assert_string_equal(record->reason, "wrong_data");
        if (operations[i].number != NVBW_OP_DOT) {
            assert_int_equal(record->mismatch_offset, MIB - SM_VECTOR);
        }
        arena_clear(&scene.arena);
    }

    const struct nvbw_flow dot = make_flow(NVBW_OP_DOT, MIB);
    struct scene scene;

    start(&scene);
    cut_laps = 1;
    assert_int_equal(measure(&scene, &dot)->state, STATE_MISMATCH);
    cut_laps = 0;
    arena_clear(&scene.arena);
}

static void what_cannot_be_is_refused(void **state)
{
    struct nvbw_flow flow = make_flow(NVBW_OP_STREAM_COPY, MIB);
    struct scene scene;

    (void)state;
    flow.element = 8;
    start(&scene);
    assert_int_equal(measure(&scene, &flow)->state, STATE_ERROR);
    arena_clear(&scene.arena);
    flow = make_flow(NVBW_OP_TRIAD, MIB);
    flow.offset = 8;
    start(&scene);
    assert_int_equal(measure(&scene, &flow)->state, STATE_ERROR);
    arena_clear(&scene.arena);
    flow = make_flow(NVBW_OP_SCALE, MIB);
    flow.src_memory = NVBW_MEM_PAGEABLE;
    flow.src_place = NVBW_NEAR;
    start(&scene);
    assert_int_not_equal(measure(&scene, &flow)->state, STATE_MEASURED);
    arena_clear(&scene.arena);
}

/* What stands in arrays is what the operations make of it, in doubles. */
static void numbers_are_exact(void **state)
{
    const uint64_t key = pattern_key(1, 2, 3);
    const uint64_t third = NUMBERS_THIRD(key);

    (void)state;
    for (uint64_t i = 0; i < 10000; i++) {
        const uint64_t b = pattern_word(key, i) >> NUMBERS_WIDE_SHIFT;
        const uint64_t c = pattern_word(third, i) >> NUMBERS_WIDE_SHIFT;
        const uint64_t small = pattern_word(key, i) >> NUMBERS_SMALL_SHIFT;
        const uint64_t other = pattern_word(third, i) >> NUMBERS_SMALL_SHIFT;

        assert_true(b + 3 * c < UINT64_C(1) << 53);
        assert_int_equal(
            number_word(NUMBERS_WIDE, key, i), number_bits((double)b));
        assert_int_equal(
            number_word(NUMBERS_SMALL, key, i), number_bits((double)small));
        assert_int_equal(
            number_word(NUMBERS_SCALED, key, i), number_bits((double)(3 * b)));
        assert_int_equal(
            number_word(NUMBERS_ADDED, key, i), number_bits((double)(b + c)));
        assert_int_equal(number_word(NUMBERS_TRIAD, key, i),
            number_bits((double)(b + 3 * c)));
        assert_int_equal(number_word(NUMBERS_PRODUCT, key, i), small * other);
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
        cmocka_unit_test(figures_are_the_memorys_or_the_caches),
        cmocka_unit_test(copies_of_small_arrays_are_laps),
        cmocka_unit_test(odd_sizes_are_cut),
        cmocka_unit_test(what_is_left_out_shows),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(numbers_are_exact),
    };

    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
