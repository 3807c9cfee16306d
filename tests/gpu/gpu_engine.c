/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The engine on real GPUs: each way, both ways, all GPUs at once, between
 * GPUs and within one, in adaptive and fixed mode. Prints a line per cell and
 * exits 1 if any is not measured and right, 77 without a GPU. For a person
 * who compares the figures with those of another tool on the same machine.
 *
 *   gpu_engine [DRIVER_FILE] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "engine.h"
#include "state.h"
#include "stats.h"
#include "topology.h"

enum { FLOWS_MOST = 64 };

static struct facts facts;
static struct engine *engine;
static struct unit unit;
static uint32_t failures;

static const struct nvbw_cell cells[] = { NVBW_CELL("bandwidth", 0, 0),
    NVBW_CELL("bandwidth", 0, 1), NVBW_CELL("total", 0, 0) };

enum way { DOWN, UP, LOCAL, PEER_WRITE, PEER_READ };

static struct nvbw_flow make_flow(enum way way, int32_t gpu, int32_t other)
{
    const int from_host = way == DOWN;
    const int to_host = way == UP;
    const struct nvbw_flow flow = { .size = sizeof flow,
        .initiator = NVBW_BY_CE,
        .operation = NVBW_OP_COPY,
        .src_memory = from_host ? NVBW_MEM_PINNED : NVBW_MEM_DEVICE,
        .dst_memory = to_host ? NVBW_MEM_PINNED : NVBW_MEM_DEVICE,
        .src_place = from_host          ? NVBW_NEAR
                     : way == PEER_READ ? other
                                        : gpu,
        .dst_place = to_host             ? NVBW_NEAR
                     : way == PEER_WRITE ? other
                                         : gpu,
        .executor = gpu };

    return flow;
}

static void print_record(const char *name, const struct record *record)
{
    struct stats stats;

    stats_of(record->samples, record->samples_count, &stats);
    printf("%-28s %-9s %-8s %8.2f GB/s  n %2u  half-width %.3f %%  copies %llu "
           "x %llu MiB  gap %.1f us  cover %.2f  verified %llu MiB",
        name, record->metric, name_of(state_names, record->state),
        stats.median / 1e9, record->samples_count,
        100.0 * stats_half_width(&stats), (unsigned long long)record->copies,
        (unsigned long long)record->copy_bytes >> 20,
        record->clock_gap_ns / 1e3, record->cover_margin,
        (unsigned long long)record->verified_bytes >> 20);
    for (uint32_t i = 0; i < record->flags_count; i++) {
        printf(" [%s]", record->flags[i]);
    }
    printf("%s%s\n", record->message != NULL ? "  " : "",
        record->message != NULL ? record->message : "");
    failures += record->state != STATE_MEASURED;
}

static void measure(const char *name, const struct nvbw_flow *flows,
    uint32_t count, const struct nvbw_cell *total, uint32_t fixed)
{
    const struct nvbw_flow *list[FLOWS_MOST + 1] = { NULL };
    struct measure_result result = { 0 };
    struct error err = { 0 };
    struct arena arena;
    const struct measure_request request = { .unit = &unit,
        .flows = list,
        .total = total,
        .params = { .fixed = fixed,
            .buffer_bytes = fixed ? UINT64_C(512) << 20 : 0,
            .copies = 16,
            .samples = 3,
            .min_samples = 8,
            .max_samples = 15,
            .warmup = 4,
            .precision = 0.005,
            .precision_contended = 0.02,
            .verify = 1,
            .gate = 1 } };
    const uint64_t begin_ns = clock_machine_ns();

    for (uint32_t i = 0; i < count; i++) {
        list[i] = &flows[i];
    }
    arena_init(&arena, 64 << 20);
    if (engine_measure(engine, &request, &arena, &result, &err) < 0) {
        printf("%-28s %s\n", name, err.text);
        failures++;
    }
    for (uint32_t i = 0; i < result.records_count; i++) {
        print_record(name, &result.records[i]);
    }
    printf("%-28s took %.2f s\n", "",
        (double)(clock_machine_ns() - begin_ns) / 1e9);
    arena_clear(&arena);
}

static void measure_one(const char *name, enum way way, uint32_t fixed)
{
    struct nvbw_flow flow = make_flow(way, 0, 1);

    flow.cell = &cells[0];
    measure(name, &flow, 1, NULL, fixed);
}

static void measure_behind(
    const char *name, enum way way, int all_gpus, uint32_t fixed)
{
    struct nvbw_flow flows[FLOWS_MOST];
    uint32_t count = 0;
    const uint32_t gpus = all_gpus ? unit.gpus_count : 1;

    for (uint32_t gpu = 0; gpu < gpus && count + 2 <= FLOWS_MOST; gpu++) {
        flows[count++] = make_flow(way, (int32_t)gpu, 0);
        flows[count++] = make_flow(way == DOWN ? UP : DOWN, (int32_t)gpu, 0);
    }
    for (uint32_t i = 1; i < count; i++) {
        flows[i].flags = NVBW_FLOW_BACKGROUND;
    }
    flows[0].cell = &cells[0];
    measure(name, flows, count, &cells[2], fixed);
}

static void measure_pair(void)
{
    struct nvbw_flow flows[] = { make_flow(PEER_WRITE, 0, 1),
        make_flow(PEER_WRITE, 1, 0) };

    flows[0].cell = &cells[0];
    flows[1].cell = &cells[1];
    measure("pair both write", flows, 2, &cells[2], 0);
}

static void measure_all(void)
{
    for (uint32_t fixed = 0; fixed < 2; fixed++) {
        measure_one(fixed ? "down, fixed" : "down", DOWN, fixed);
        measure_one(fixed ? "up, fixed" : "up", UP, fixed);
        measure_one(fixed ? "local, fixed" : "local", LOCAL, fixed);
        measure_behind(
            fixed ? "down behind up, fixed" : "down behind up", DOWN, 0, fixed);
        measure_behind(
            fixed ? "up behind down, fixed" : "up behind down", UP, 0, fixed);
    }
    if (unit.gpus_count > 1) {
        measure_one("peer write", PEER_WRITE, 0);
        measure_one("peer read", PEER_READ, 0);
        measure_one("peer write, fixed", PEER_WRITE, 1);
        measure_pair();
        measure_behind("down, all both ways", DOWN, 1, 0);
        measure_behind("up, all both ways", UP, 1, 0);
    }
}

static struct unit_shape shapes[] = {
    { .metric = "bandwidth",
        .unit = NVBW_UNIT_BYTES_PER_SECOND,
        .rows = 1,
        .cols = 2 },
    { .metric = "total",
        .unit = NVBW_UNIT_BYTES_PER_SECOND,
        .rows = 1,
        .cols = 1 },
};

static void make_unit(struct arena *arena)
{
    unit = (struct unit){ .plugin = "gpu",
        .testcase = "gpu",
        .gpus_count = facts.gpus_count,
        .nodes_count = facts.nodes_count,
        .shapes = shapes,
        .shapes_count = 2 };
    unit.gpus = arena_alloc(arena, unit.gpus_count + 1, sizeof *unit.gpus);
    unit.nodes = arena_alloc(arena, unit.nodes_count + 1, sizeof *unit.nodes);
    for (uint32_t i = 0; i < unit.gpus_count; i++) {
        unit.gpus[i] = i;
    }
    for (uint32_t i = 0; i < unit.nodes_count; i++) {
        unit.nodes[i] = i;
    }
}

int main(int argc, char **argv)
{
    struct engine_setup setup = { .facts = &facts,
        .driver_file = argc > 1 ? argv[1] : NULL,
        .pool_limit_bytes = UINT64_C(8) << 30 };
    struct error err = { 0 };
    struct arena arena;

    setvbuf(stdout, NULL, _IOLBF, 0);
    arena_init(&arena, 64 << 20);
    if (topology_read(setup.driver_file, &arena, &facts, &err) < 0 ||
        facts.gpus_count == 0) {
        printf("no GPU: %s%s\n", err.text,
            facts.driver_trouble != NULL ? facts.driver_trouble : "");
        return 77;
    }
    make_unit(&arena);
    for (uint32_t i = 0; i < facts.gpus_count; i++) {
        printf("GPU %u: %s, node %d, NVLinks %u\n", i, facts.gpus[i].name,
            facts.gpus[i].near_node, facts.gpus[i].nvlinks_active);
    }
    if (engine_open(&setup, &engine, &err) < 0 ||
        engine_health(engine, unit.gpus, unit.gpus_count, UINT64_C(10000000000),
            &err) < 0) {
        printf("%s\n", err.text);
        return 1;
    }
    measure_all();
    engine_close(engine);
    arena_clear(&arena);
    printf("%u failures\n", failures);
    return failures > 0 ? 1 : 0;
}
