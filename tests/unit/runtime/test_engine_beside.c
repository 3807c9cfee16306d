/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Measurements side by side: each keeps what is its own, and the work grows
 * with the cells, or with the measurements, and not beyond. Time is that of
 * the simulated driver. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "clock.h"
#include "engine.h"
#include "peer_rounds.h"
#include "state.h"
#include "stats.h"
#include "topology.h"

enum { GPUS = 8, MIB = 1 << 20 };

static uint32_t gpus[GPUS] = { 0, 1, 2, 3, 4, 5, 6, 7 };
static struct unit_shape shapes[] = {
    { .metric = "bandwidth",
        .unit = NVBW_UNIT_BYTES_PER_SECOND,
        .rows = GPUS,
        .cols = GPUS,
        .pairs = 1 },
    { .metric = "total",
        .unit = NVBW_UNIT_BYTES_PER_SECOND,
        .rows = GPUS,
        .cols = GPUS,
        .pairs = 1 },
};
static const struct unit unit = { .plugin = "test",
    .testcase = "test",
    .gpus = gpus,
    .gpus_count = GPUS,
    .shapes = shapes,
    .shapes_count = sizeof shapes / sizeof *shapes };

struct machine {
    struct arena arena;
    struct facts facts;
    struct engine *engine;
    struct error err;
};

static void open_machine(struct machine *machine)
{
    struct engine_setup setup = { .driver_file = SIM_LIBRARY,
        .pool_limit_bytes = 64 * MIB };

    memset(machine, 0, sizeof *machine);
    setenv("NVBW_SIM_PROFILE", "hgx_h200_x8", 1);
    arena_init(&machine->arena, 64 << 20);
    setup.facts = &machine->facts;
    assert_int_equal(topology_read(SIM_LIBRARY, &machine->arena,
                         &machine->facts, &machine->err),
        NVBW_OK);
    assert_int_equal(
        engine_open(&setup, &machine->engine, &machine->err), NVBW_OK);
}

static void close_machine(struct machine *machine)
{
    engine_close(machine->engine);
    arena_clear(&machine->arena);
}

/* Flows side by side, a cell each, or more of one part with a total. */
struct scene {
    struct nvbw_cell cells[GPUS];
    struct nvbw_flow flows[GPUS];
    const struct nvbw_flow *list[GPUS + 1];
    struct measure_part parts[GPUS];
    uint32_t flows_count, parts_count;
};

static void add_flow(struct scene *scene, uint32_t from, uint32_t to)
{
    const uint32_t at = scene->flows_count++;
    const struct nvbw_cell cell = NVBW_CELL("bandwidth", from, to);

    scene->cells[at] = cell;
    scene->flows[at] = (struct nvbw_flow){ .size = sizeof scene->flows[at],
        .initiator = NVBW_BY_CE,
        .operation = NVBW_OP_COPY,
        .src_memory = NVBW_MEM_DEVICE,
        .dst_memory = NVBW_MEM_DEVICE,
        .src_place = (int32_t)from,
        .dst_place = (int32_t)to,
        .executor = (int32_t)from,
        .cell = &scene->cells[at] };
    scene->list[at] = &scene->flows[at];
    scene->parts[scene->parts_count - 1].count++;
}

static void add_part(struct scene *scene, const struct nvbw_cell *total)
{
    scene->parts[scene->parts_count++] =
        (struct measure_part){ .first = scene->flows_count, .total = total };
}

static void measure(struct machine *machine, const struct scene *scene,
    struct arena *arena, struct measure_result *out)
{
    const struct measure_request request = { .unit = &unit,
        .params = { .fixed = 1,
            .buffer_bytes = 256 * MIB,
            .copies = 4,
            .samples = 3,
            .warmup = 1,
            .verify = 1,
            .gate = 1 },
        .flows = scene->list,
        .parts = scene->parts,
        .parts_count = scene->parts_count };

    if (engine_measure(machine->engine, &request, arena, out, &machine->err) <
        0) {
        fail_msg("%s", machine->err.text);
    }
    for (uint32_t i = 0; i < out->records_count; i++) {
        if (out->records[i].state != STATE_MEASURED) {
            fail_msg("record %u: %s", i,
                out->records[i].message == NULL ? "-"
                                                : out->records[i].message);
        }
    }
}

static double figure(const struct measure_result *result, uint32_t i)
{
    return stats_quantile(
        result->records[i].samples, result->records[i].samples_count, 0.5);
}

static int is_concurrent(const struct record *record)
{
    for (uint32_t i = 0; i < record->flags_count; i++) {
        if (strcmp(record->flags[i], "concurrent") == 0) {
            return 1;
        }
    }
    return 0;
}

static void check_record(const struct record *record, const char *metric,
    uint32_t row, uint32_t col, uint32_t flows)
{
    assert_string_equal(record->metric, metric);
    assert_int_equal(record->row, row);
    assert_int_equal(record->col, col);
    assert_int_equal(record->flows_count, flows);
    assert_int_equal(record->flows[0].src_place, row);
    assert_int_equal(record->flows[0].copies, 4);
    assert_int_equal(record->gpus_count, 2);
    assert_int_equal(record->gpus[0], row < col ? row : col);
    assert_true(is_concurrent(record));
    assert_int_equal(record->verified_bytes,
        3ull * 256 * MIB * (strcmp(metric, "total") == 0 ? flows : 1));
}

static void each_part_keeps_what_is_its_own(void **state)
{
    static const struct nvbw_cell first = NVBW_CELL("total", 0, 1);
    static const struct nvbw_cell second = NVBW_CELL("total", 2, 3);
    struct scene scene = { .flows_count = 0 };
    struct measure_result result;
    struct machine machine;

    (void)state;
    open_machine(&machine);
    add_part(&scene, &first);
    add_flow(&scene, 0, 1);
    add_flow(&scene, 1, 0);
    add_part(&scene, &second);
    add_flow(&scene, 2, 3);
    measure(&machine, &scene, &machine.arena, &result);
    assert_int_equal(result.records_count, 5);
    check_record(&result.records[0], "bandwidth", 0, 1, 2);
    assert_int_equal(result.records[1].row, 1);
    check_record(&result.records[2], "total", 0, 1, 2);
    check_record(&result.records[3], "bandwidth", 2, 3, 1);
    check_record(&result.records[4], "total", 2, 3, 1);
    assert_true(figure(&result, 2) > 1.8 * figure(&result, 0));
    assert_true(
        figure(&result, 2) < 1.001 * (figure(&result, 0) + figure(&result, 1)));
    assert_true(figure(&result, 4) > 0.999 * figure(&result, 3));
    assert_true(figure(&result, 4) < 1.001 * figure(&result, 3));
    close_machine(&machine);
}

static void one_part_is_not_concurrent(void **state)
{
    struct scene scene = { .flows_count = 0 };
    struct measure_result result;
    struct machine machine;

    (void)state;
    open_machine(&machine);
    add_part(&scene, NULL);
    add_flow(&scene, 0, 1);
    measure(&machine, &scene, &machine.arena, &result);
    assert_false(is_concurrent(result.records));
    close_machine(&machine);
}

static uint64_t timed(struct machine *machine, const struct scene *scene)
{
    const uint64_t begin_ns = clock_now_ns();
    struct measure_result result;
    struct arena arena;

    arena_init(&arena, 16 << 20);
    measure(machine, scene, &arena, &result);
    assert_int_equal(result.records_count, scene->parts_count);
    arena_clear(&arena);
    return clock_now_ns() - begin_ns;
}

static uint64_t all_alone(struct machine *machine, uint32_t count)
{
    uint64_t sum_ns = 0;

    for (uint32_t at = 0; at < count * count; at++) {
        struct scene scene = { .flows_count = 0 };

        if (at / count != at % count) {
            add_part(&scene, NULL);
            add_flow(&scene, at / count, at % count);
            sum_ns += timed(machine, &scene);
        }
    }
    return sum_ns;
}

static uint64_t all_in_rounds(struct machine *machine, uint32_t count)
{
    uint64_t sum_ns = 0;

    for (uint32_t at = 0; at < 2 * peer_rounds(count); at++) {
        struct scene scene = { .flows_count = 0 };
        uint32_t one;
        uint32_t other;

        for (uint32_t i = 0; i < count / 2; i++) {
            if (peer_round_pair(count, at / 2, i, &one, &other)) {
                add_part(&scene, NULL);
                add_flow(&scene, at % 2 ? other : one, at % 2 ? one : other);
            }
        }
        sum_ns += timed(machine, &scene);
    }
    return sum_ns;
}

/* Per cell, or per measurement side by side, a machine of eight takes what a
 * machine of two does. */
static void work_does_not_outgrow_the_cells(void **state)
{
    static const uint32_t sizes[] = { 2, 4, 8 };
    struct machine machine;

    (void)state;
    open_machine(&machine);
    all_alone(&machine, GPUS); /* contexts and buffers */

    const double each_ns = (double)all_alone(&machine, 2) / 2;

    assert_true(each_ns > 0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const uint32_t count = sizes[i];
        const double alone_ns = (double)all_alone(&machine, count);
        const double rounds_ns = (double)all_in_rounds(&machine, count);

        if (alone_ns > 1.05 * each_ns * count * (count - 1) ||
            rounds_ns > 1.07 * each_ns * 2 * (count - 1)) {
            fail_msg("%u GPUs: %.0f ns alone, %.0f ns in rounds, %.0f ns each",
                count, alone_ns, rounds_ns, each_ns);
        }
    }
    close_machine(&machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_keeps_what_is_its_own),
        cmocka_unit_test(one_part_is_not_concurrent),
        cmocka_unit_test(work_does_not_outgrow_the_cells),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
