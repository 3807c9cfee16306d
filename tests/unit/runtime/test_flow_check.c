/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* flow_check and what relies on it: a table of flows that each break one rule,
 * and how good ones are resolved. */
#include "flow.h"
#include "session_build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static uint32_t gpus[] = { 2, 0 };
static uint32_t nodes[] = { 1 };
static struct unit_shape shapes[] = {
    { .metric = "bandwidth",
        .unit = NVBW_UNIT_BYTES_PER_SECOND,
        .rows = 2,
        .cols = 2,
        .pairs = 1 },
    { .metric = "total",
        .unit = NVBW_UNIT_BYTES_PER_SECOND,
        .rows = 1,
        .cols = 1 },
    { .metric = "count", .unit = NVBW_UNIT_COUNT, .rows = 1, .cols = 1 },
};
static const struct unit unit = { .gpus = gpus,
    .gpus_count = 2,
    .nodes = nodes,
    .nodes_count = 1,
    .shapes = shapes,
    .shapes_count = 3 };

static struct gpu_facts gpu_list[] = { { .near_node = 0 }, { .near_node = 4 },
    { .near_node = 4 } };
static struct node_facts node_list[] = { { .number = 0 }, { .number = 4 } };
static const struct facts facts = {
    .gpus = gpu_list, .gpus_count = 3, .nodes = node_list, .nodes_count = 2
};

static const struct nvbw_cell cell_01 = NVBW_CELL("bandwidth", 0, 1);
static const struct nvbw_cell cell_10 = NVBW_CELL("bandwidth", 1, 0);
static const struct nvbw_cell diagonal = NVBW_CELL("bandwidth", 1, 1);
static const struct nvbw_cell unknown = NVBW_CELL("speed", 0, 0);
static const struct nvbw_cell nameless = NVBW_CELL(NULL, 0, 0);
static const struct nvbw_cell counted = NVBW_CELL("count", 0, 0);
static const struct nvbw_cell total = NVBW_CELL("total", 0, 0);

/* A copy from the near node to GPU 0 of the axis. */
static const struct nvbw_flow good = {
    .size = sizeof good,
    .initiator = NVBW_BY_CE,
    .operation = NVBW_OP_COPY,
    .src_memory = NVBW_MEM_PINNED,
    .src_place = NVBW_NEAR,
    .dst_memory = NVBW_MEM_DEVICE,
    .dst_place = 0,
    .executor = 0,
    .cell = &cell_01,
};

static int32_t enqueue(struct nvbw_ctx *ctx, const struct nvbw_work *work)
{
    (void)ctx;
    (void)work;
    return NVBW_OK;
}

static int32_t check(const struct nvbw_flow *flow, struct error *err)
{
    const struct nvbw_flow *const flows[] = { flow, NULL };

    return flow_check(&facts, &unit, flows, NULL, err);
}

/* One change that must be refused, with a word of the message. */
struct bad {
    const char *word;
    struct nvbw_flow flow;
};

#define FLOW(...)                                                              \
    {                                                                          \
        .size = sizeof(struct nvbw_flow), .initiator = NVBW_BY_CE,             \
        .operation = NVBW_OP_COPY, .src_memory = NVBW_MEM_PINNED,              \
        .src_place = NVBW_NEAR, .dst_memory = NVBW_MEM_DEVICE,                 \
        .cell = &cell_01, __VA_ARGS__                                          \
    }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static const struct bad table[] = {
    { "flags", FLOW(.flags = 64) },
    { "initiator", FLOW(.initiator = 0) },
    { "initiator", FLOW(.initiator = 6) },
    { "operation", FLOW(.operation = 11) },
    { "kind of memory", FLOW(.src_memory = 10) },
    { "load", FLOW(.load_permille = 1001) },
    { "elements", FLOW(.element = 3) },
    { "elements", FLOW(.element = 32) },
    { "larger", FLOW(.bytes = UINT64_MAX) },
    { "cannot do read", FLOW(.operation = NVBW_OP_READ) },
    { "no source", FLOW(.src_memory = NVBW_MEM_NONE) },
    { "has a destination",
        FLOW(.initiator = NVBW_BY_SM, .operation = NVBW_OP_READ) },
    { "has a source",
        FLOW(.initiator = NVBW_BY_SM, .operation = NVBW_OP_WRITE) },
    { "cpu cannot use device", FLOW(.initiator = NVBW_BY_CPU) },
    { "no enqueue", FLOW(.initiator = NVBW_BY_PLUGIN) },
    { "not by the plugin", FLOW(.enqueue = enqueue) },
    { "source at place 1", FLOW(.src_place = 1) },
    { "destination at place 2", FLOW(.dst_place = 2) },
    { "destination at place -1", FLOW(.dst_place = NVBW_NEAR) },
    { "executor 2", FLOW(.executor = 2) },
    { "executor -1", FLOW(.executor = -1) },
    { "background", FLOW(.flags = NVBW_FLOW_BACKGROUND) },
    { "does not split", FLOW(.reverse_cell = &cell_10) },
    { "not declared", FLOW(.cell = &diagonal) },
    { "not declared", FLOW(.cell = &unknown) },
    { "no metric", FLOW(.cell = &nameless) },
    { "neither", FLOW(.cell = &counted) },
    { "no cell", FLOW(.cell = NULL) },
    { "has a ring", FLOW(.ring = 4096) },
    { "has a ring", FLOW(.src_memory = NVBW_MEM_PAGEABLE, .ring = 4096,
                        .initiator = NVBW_BY_SM) },
    { "larger than any",
        FLOW(.src_memory = NVBW_MEM_PAGEABLE, .ring = UINT64_MAX) },
};
#pragma GCC diagnostic pop

static void test_bad_flows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct error err = { 0 };

        if (check(&table[i].flow, &err) != NVBW_E_INVALID ||
            strstr(err.text, table[i].word) == NULL) {
            fail_msg("row %zu (%s): %s", i, table[i].word, err.text);
        }
    }
}

static void test_good_flow(void **state)
{
    struct error err = { 0 };

    (void)state;
    if (check(&good, &err) != NVBW_OK) {
        fail_msg("%s", err.text);
    }
}

static void test_together(void **state)
{
    struct nvbw_flow background = good;
    struct nvbw_flow by_cpu = good;
    const struct nvbw_flow *const none[] = { NULL };
    const struct nvbw_flow *const only_background[] = { &background, NULL };
    const struct nvbw_flow *const mixed[] = { &good, &by_cpu, NULL };
    const struct nvbw_flow *const both[] = { &good, &background, NULL };

    (void)state;
    background.flags = NVBW_FLOW_BACKGROUND;
    background.cell = NULL;
    by_cpu.initiator = NVBW_BY_CPU;
    by_cpu.dst_memory = NVBW_MEM_PAGEABLE;
    assert_int_equal(
        flow_check(&facts, &unit, none, &total, NULL), NVBW_E_INVALID);
    assert_int_equal(flow_check(&facts, &unit, only_background, &total, NULL),
        NVBW_E_INVALID);
    assert_int_equal(
        flow_check(&facts, &unit, mixed, &total, NULL), NVBW_E_INVALID);
    assert_int_equal(flow_check(&facts, &unit, both, &total, NULL), NVBW_OK);
    assert_int_equal(
        flow_check(&facts, &unit, both, &unknown, NULL), NVBW_E_INVALID);
}

static void test_resolve(void **state)
{
    const struct measure_params params = { .buffer_bytes = 4096 };
    struct nvbw_flow flow = good;
    struct flow_record record;

    (void)state;
    flow_resolve(&facts, &unit, &params, &flow, &record);
    assert_int_equal(record.executor, 2);
    assert_int_equal(record.src_place, 1); /* node 4, nearest to GPU 2 */
    assert_int_equal(record.dst_place, 2);
    assert_int_equal(record.bytes, 4096);
    flow.bytes = 17;
    flow.src_place = 0;
    flow.executor = 1;
    flow_resolve(&facts, &unit, &params, &flow, &record);
    assert_int_equal(record.bytes, 17);
    assert_int_equal(record.src_place, 1);
    assert_int_equal(record.executor, 0);
    flow.bytes = 0;
    flow.initiator = NVBW_BY_PLUGIN;
    flow.src_memory = NVBW_MEM_NONE;
    flow.dst_memory = NVBW_MEM_NONE;
    flow_resolve(&facts, &unit, &params, &flow, &record);
    assert_int_equal(record.bytes, 0);
    assert_int_equal(record.src_place, -1);
}

static const struct record *recorded(
    const struct measure_result *result, const char *metric)
{
    for (uint32_t i = 0; i < result->records_count; i++) {
        if (strcmp(result->records[i].metric, metric) == 0) {
            return &result->records[i];
        }
    }
    fail_msg("no record of %s", metric);
    return NULL;
}

/* A counted flow, one that only the total counts, and the total. */
static void test_record_only(void **state)
{
    struct nvbw_flow silent = good;
    const struct nvbw_flow *const flows[] = { &good, &silent, &good, NULL };
    const struct measure_request request = { .unit = &unit,
        .params = { .buffer_bytes = 4096 },
        .flows = flows,
        .total = &total };
    struct measure_result result;
    struct arena arena;

    (void)state;
    silent.cell = NULL;
    silent.executor = 1;
    arena_init(&arena, 1 << 20);
    assert_int_equal(
        engine_record_only(&facts, &request, &arena, &result, NULL), NVBW_OK);
    assert_int_equal(result.records_count, 2);

    const struct record *const one = recorded(&result, "bandwidth");
    const struct record *const all = recorded(&result, "total");

    assert_int_equal(one->flows_count, 3);
    assert_int_equal(one->flows[0].counted, 1);
    assert_int_equal(one->flows[1].counted, 0);
    assert_int_equal(one->flows[2].counted, 1);
    assert_int_equal(all->flows[1].counted, 1);
    assert_int_equal(one->state, 0);
    assert_int_equal(one->gpus_count, 2);
    assert_int_equal(one->gpus[0], 0);
    assert_int_equal(one->gpus[1], 2);
    arena_clear(&arena);
}

/* A chain by rank 0 through rank 1's memory, and what runs beside it. */
static int32_t check_beside(const struct flow_record *beside)
{
    struct flow_run runs[] = { { .record = { .initiator = NVBW_BY_SM,
                                     .operation = NVBW_OP_CHASE,
                                     .src_memory = NVBW_MEM_FABRIC,
                                     .src_place = 1 } },
        { .record = *beside } };
    const struct facts ranks = {
        .gpus = gpu_list, .gpus_count = 2, .ranks = 2
    };
    const struct session session = {
        .facts = &ranks, .flows = runs, .flows_count = 2
    };
    struct error err = { 0 };
    const int32_t status = flow_support_check(&session, &err);

    assert_true(status == NVBW_OK || err.code == NVBW_SKIP_NOT_BUILT);
    return status;
}

/* Only the rank that carries it out sees a background's progress, and only a
 * load's size follows from what all ranks know. */
static void test_background_between_ranks(void **state)
{
    const struct flow_record load = { .initiator = NVBW_BY_SM,
        .operation = NVBW_OP_READ,
        .src_memory = NVBW_MEM_FABRIC,
        .src_place = 1,
        .flags = NVBW_FLOW_BACKGROUND,
        .load_permille = 500 };
    struct flow_record changed = load;
    (void)state;

    assert_int_equal(check_beside(&load), NVBW_OK);
    changed.executor = 1;
    assert_int_equal(check_beside(&changed), NVBW_E_SKIPPED);
    changed = load;
    changed.load_permille = 0;
    assert_int_equal(check_beside(&changed), NVBW_E_SKIPPED);
    changed = load;
    changed.src_memory = NVBW_MEM_DEVICE;
    assert_int_equal(check_beside(&changed), NVBW_E_SKIPPED);
    changed.flags = 0;
    changed.src_memory = NVBW_MEM_FABRIC;
    changed.load_permille = 0;
    changed.executor = 1;
    assert_int_equal(check_beside(&changed), NVBW_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_flows),
        cmocka_unit_test(test_good_flow),
        cmocka_unit_test(test_together),
        cmocka_unit_test(test_resolve),
        cmocka_unit_test(test_record_only),
        cmocka_unit_test(test_background_between_ranks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
