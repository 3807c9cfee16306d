/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "sample_run.h"

#include <stdio.h>
#include <stdlib.h>

static void must(int32_t status, const struct error *err)
{
    if (status < 0) {
        fprintf(stderr, "%s\n", err->text);
        exit(1);
    }
}

static void add(struct evidence *evidence, struct arena *arena, uint32_t type,
    const void *object)
{
    struct error err = { 0 };

    must(evidence_add(evidence, arena, type, object, &err), &err);
}

static const struct gpu_facts h200 = {
    .name = "NVIDIA H200",
    .near_node = 0,
    .compute = 90,
    .memory_bytes = UINT64_C(150754820096),
    .memory_clock_hz = 3201000000,
    .memory_bus_bits = 6016,
    .pcie = { .generation = 5,
        .width = 16,
        .max_generation = 5,
        .max_width = 16 },
    .nvlinks = 18,
    .nvlinks_active = 18,
    .nvlink_rate = UINT64_C(26562500000),
};

static void add_facts(struct evidence *evidence, struct arena *arena)
{
    struct gpu_facts gpus[2] = { h200, h200 };
    struct node_facts node = { .number = 0, .cpu_count = 32 };
    struct pair_facts pairs[] = {
        { .from = 0, .to = 1, .access = 1, .nvlinks = 18, .path = "NV18" },
        { .from = 1, .to = 0, .access = 1, .nvlinks = 18, .path = "NV18" },
    };
    const struct facts facts = { .host = "node17",
        .driver_version = "580.159.04",
        .cuda_version = 13000,
        .gpus = gpus,
        .gpus_count = 2,
        .nodes = &node,
        .nodes_count = 1,
        .pairs = pairs,
        .pairs_count = 2 };

    gpus[1].index = 1;
    gpus[0].uuid = "GPU-0";
    gpus[1].uuid = "GPU-1";
    add(evidence, arena, LINE_FACTS, &facts);
}

static void add_efficiencies(struct evidence *evidence, struct arena *arena)
{
    struct efficiency_row rows[] = {
        { { LINK_PCIE, NVBW_BY_CE, WAY_H2D, LOAD_ALONE }, 0.88, 0.002,
            EFFICIENCY_MEASURED, "a bench", { "dir/two.cfg", 3 } },
        { { LINK_NVLINK, NVBW_BY_CE, WAY_PUSH, LOAD_ALONE }, 0.88, 0.002,
            EFFICIENCY_PUBLISHED, "a paper", { "dir/two.cfg", 4 } },
        { { LINK_NVLINK, NVBW_BY_CE, WAY_PULL, LOAD_ALONE }, 0.875, 0.002,
            EFFICIENCY_ESTIMATE, "a guess", { "dir/two.cfg", 5 } },
    };
    const char *gpus[] = { "*H200" };
    const struct efficiency_file file = { .file = "dir/two.cfg",
        .sha256 = "00",
        .name = "two",
        .gpus = gpus,
        .gpus_count = 1,
        .rows = rows,
        .rows_count = 3 };

    add(evidence, arena, LINE_EFFICIENCY, &file);
}

static uint32_t gpus_all[] = { 0, 1 };
static uint32_t nodes_all[] = { 0 };

static void add_unit(struct evidence *evidence, struct arena *arena,
    const char *plugin, const char *testcase, struct unit_shape *shape)
{
    const struct unit unit = {
        .id = evidence->units_count,
        .plugin = plugin,
        .testcase = testcase,
        .gpus = gpus_all,
        .gpus_count = 2,
        .nodes = nodes_all,
        .nodes_count = 1,
        .shapes = shape,
        .shapes_count = 1,
        .required = "yes",
        .confirm = 2,
    };

    add(evidence, arena, LINE_UNIT, &unit);
}

static struct unit_shape h2d_shape = { .metric = "bandwidth",
    .unit = NVBW_UNIT_BYTES_PER_SECOND,
    .better = NVBW_HIGHER,
    .rows = 1,
    .cols = 2,
    .row_axis = "numa",
    .col_axis = "gpu" };
static struct unit_shape peer_shape = { .metric = "bandwidth",
    .unit = NVBW_UNIT_BYTES_PER_SECOND,
    .better = NVBW_HIGHER,
    .rows = 2,
    .cols = 2,
    .pairs = 1,
    .row_axis = "gpu",
    .col_axis = "gpu" };
static struct unit_shape latency_shape = { .metric = "latency",
    .unit = NVBW_UNIT_NANOSECONDS,
    .better = NVBW_LOWER,
    .rows = 2,
    .cols = 1,
    .row_axis = "gpu" };

static struct flow_record flow_of(uint32_t unit, uint32_t row, uint32_t col)
{
    struct flow_record flow = { .initiator = NVBW_BY_CE,
        .operation = NVBW_OP_COPY,
        .src_memory = NVBW_MEM_PINNED,
        .dst_memory = NVBW_MEM_DEVICE,
        .dst_place = (int32_t)col,
        .executor = (int32_t)col,
        .bytes = 536870912,
        .copies = 4,
        .counted = 1 };

    if (unit == SAMPLE_PEER) {
        flow.src_memory = NVBW_MEM_DEVICE;
        flow.src_place = (int32_t)row;
        flow.executor = (int32_t)row;
    } else if (unit == SAMPLE_LATENCY) {
        flow.initiator = NVBW_BY_SM;
        flow.operation = NVBW_OP_CHASE;
        flow.dst_memory = NVBW_MEM_NONE;
        flow.executor = (int32_t)row;
    }
    return flow;
}

static struct record record_of(
    const struct evidence *evidence, uint32_t unit, uint32_t row, uint32_t col)
{
    struct record record;

    record_init(&record);
    record.unit = unit;
    record.metric = evidence->units[unit].shapes[0].metric;
    record.row = row;
    record.col = col;
    return record;
}

void sample_figure(struct evidence *evidence, struct arena *arena,
    uint32_t unit, uint32_t row, uint32_t col, uint32_t attempt, double figure)
{
    double samples[8];
    struct flow_record flow = flow_of(unit, row, col);
    struct record record = record_of(evidence, unit, row, col);

    for (int i = 0; i < 8; i++) {
        samples[i] = figure * (1.0 + 0.0002 * (i - 3.5));
    }
    record.attempt = attempt;
    record.state = STATE_MEASURED;
    record.samples = samples;
    record.samples_count = 8;
    record.mode = "adaptive";
    record.clock = "events";
    record.verified = "all";
    record.copy_bytes = flow.bytes;
    record.flows = &flow;
    record.flows_count = 1;
    add(evidence, arena, LINE_CELL, &record);
}

void sample_state(struct evidence *evidence, struct arena *arena, uint32_t unit,
    uint32_t row, uint32_t col, uint32_t state, const char *reason,
    const char *message)
{
    struct record record = record_of(evidence, unit, row, col);

    record.attempt = 1;
    record.state = state;
    record.reason = reason;
    record.message = message;
    add(evidence, arena, LINE_CELL, &record);
}

void sample_limit(struct evidence *evidence, struct arena *arena,
    const char *match, const char *min, const char *max)
{
    struct plan_limit *const limit = arena_alloc(arena, 1, sizeof *limit);

    *limit = (struct plan_limit){ .match = match,
        .min = min,
        .max = max,
        .origin = { "acceptance.cfg", 12 } };
    evidence->plan.limits = limit;
    evidence->plan.limits_count = 1;
}

uint32_t sample_closed_unit(struct evidence *evidence, struct arena *arena,
    const char *testcase, uint32_t state, const char *reason,
    const char *message)
{
    const uint32_t id = evidence->units_count;

    add_unit(evidence, arena, "ce_h2d", testcase, &h2d_shape);
    evidence->units[id].state = state;
    evidence->units[id].reason = reason;
    evidence->units[id].message = message;
    return id;
}

void sample_run(struct evidence *out, struct arena *arena)
{
    const struct run_header header = { .version = EVIDENCE_VERSION,
        .build = "0.1.0 (test)",
        .run_id = "0",
        .command = "nvbw-host -c acceptance.cfg",
        .started = "2026-11-29T23:00:00Z" };
    const struct run_end end = { .ended = "2026-11-29T23:01:00Z" };

    *out = (struct evidence){ 0 };
    add(out, arena, LINE_RUN, &header);
    out->plan.name = "acceptance";
    sample_limit(out, arena, "*", "95 % of expected", NULL);
    add_facts(out, arena);
    add_efficiencies(out, arena);
    add_unit(out, arena, "ce_h2d", "host_to_device_memcpy_ce", &h2d_shape);
    add_unit(
        out, arena, "ce_d2d", "device_to_device_memcpy_write_ce", &peer_shape);
    add_unit(out, arena, "latency", "host_device_latency_sm", &latency_shape);
    sample_figure(out, arena, SAMPLE_H2D, 0, 0, 0, 55.44e9);
    sample_figure(out, arena, SAMPLE_H2D, 0, 1, 0, 55.47e9);
    sample_figure(out, arena, SAMPLE_PEER, 0, 1, 0, 396.4e9);
    sample_figure(out, arena, SAMPLE_PEER, 1, 0, 0, 396.3e9);
    sample_figure(out, arena, SAMPLE_LATENCY, 0, 0, 0, 1198.0);
    sample_figure(out, arena, SAMPLE_LATENCY, 1, 0, 0, 1201.5);
    add(out, arena, LINE_END, &end);
}
