/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Whether flows keep the contract, so that the engine need not ask. */
#include "flow.h"

#include "state.h"

#define BIT(number) (1u << (number))

/* Which memory an operation wants on a side. */
enum side { SIDE_NONE, SIDE_MUST, SIDE_MAY };

struct operation_rule {
    enum side src, dst;
};

static const struct operation_rule operations[] = {
    [NVBW_OP_COPY] = { SIDE_MUST, SIDE_MUST },
    [NVBW_OP_READ] = { SIDE_MUST, SIDE_NONE },
    [NVBW_OP_WRITE] = { SIDE_NONE, SIDE_MUST },
    [NVBW_OP_SPLIT] = { SIDE_MUST, SIDE_MUST },
    [NVBW_OP_CHASE] = { SIDE_MUST, SIDE_NONE },
    [NVBW_OP_TRIAD] = { SIDE_MUST, SIDE_MUST },
    [NVBW_OP_SCALE] = { SIDE_MUST, SIDE_MUST },
    [NVBW_OP_ADD] = { SIDE_MUST, SIDE_MUST },
    [NVBW_OP_DOT] = { SIDE_MUST, SIDE_MAY },
    [NVBW_OP_STREAM_COPY] = { SIDE_MUST, SIDE_MUST },
};
enum { OPERATIONS_END = sizeof operations / sizeof operations[0] };

#define STREAM_OPERATIONS                                                      \
    (BIT(NVBW_OP_TRIAD) | BIT(NVBW_OP_SCALE) | BIT(NVBW_OP_ADD) |              \
        BIT(NVBW_OP_DOT))
#define KERNEL_OPERATIONS                                                      \
    (BIT(NVBW_OP_COPY) | BIT(NVBW_OP_READ) | BIT(NVBW_OP_WRITE) |              \
        BIT(NVBW_OP_CHASE) | STREAM_OPERATIONS)
#define HOST_MEMORY                                                            \
    (BIT(NVBW_MEM_PINNED) | BIT(NVBW_MEM_PAGEABLE) |                           \
        BIT(NVBW_MEM_WRITE_COMBINED) | BIT(NVBW_MEM_HUGE_PAGE) |               \
        BIT(NVBW_MEM_MANAGED))
#define ALL_MEMORY (BIT(BUFFER_MEMORY_END) - 1)
enum { BUFFER_MEMORY_END = NVBW_MEM_MULTICAST + 1 };

/* What an initiator can do, and to which memory. */
struct initiator_rule {
    uint32_t operations, memory;
};

static const struct initiator_rule initiators[] = {
    [NVBW_BY_CE] = { BIT(NVBW_OP_COPY), ALL_MEMORY },
    [NVBW_BY_SM] = { KERNEL_OPERATIONS | BIT(NVBW_OP_SPLIT) |
                         BIT(NVBW_OP_STREAM_COPY),
        ALL_MEMORY },
    [NVBW_BY_TMA] = { BIT(NVBW_OP_COPY) | BIT(NVBW_OP_READ) |
                          BIT(NVBW_OP_WRITE) | BIT(NVBW_OP_CHASE),
        ALL_MEMORY },
    [NVBW_BY_CPU] = { KERNEL_OPERATIONS, HOST_MEMORY },
    [NVBW_BY_PLUGIN] = { UINT32_MAX, ALL_MEMORY },
};
enum { INITIATORS_END = sizeof initiators / sizeof initiators[0] };

enum {
    FLOW_FLAGS = NVBW_FLOW_BACKGROUND | NVBW_FLOW_SYNC | NVBW_FLOW_STAGED |
                 NVBW_FLOW_DEFAULT_STREAM | NVBW_FLOW_HOST_CLOCK,
    LOAD_FULL_PERMILLE = 1000,
    ELEMENT_LIMIT_BYTES = 16
};
static const uint64_t bytes_limit = UINT64_C(1) << 48;

/* One flow being checked. at: its position, for messages. */
struct check {
    const struct unit *unit;
    const struct nvbw_flow *flow;
    uint32_t at;
    struct error *err;
};

static int32_t check_numbers(const struct check *check)
{
    const struct nvbw_flow *const flow = check->flow;

    FAIL_IF((flow->flags & ~(uint32_t)FLOW_FLAGS) != 0, check->err,
        NVBW_E_INVALID, "flow %u has unknown flags 0x%x", check->at,
        flow->flags);
    FAIL_IF(flow->initiator == 0 || flow->initiator >= INITIATORS_END,
        check->err, NVBW_E_INVALID, "flow %u has no known initiator: %u",
        check->at, flow->initiator);
    FAIL_IF(flow->operation == 0 || flow->operation >= OPERATIONS_END,
        check->err, NVBW_E_INVALID, "flow %u has no known operation: %u",
        check->at, flow->operation);
    FAIL_IF(flow->src_memory >= BUFFER_MEMORY_END ||
                flow->dst_memory >= BUFFER_MEMORY_END,
        check->err, NVBW_E_INVALID, "flow %u has an unknown kind of memory",
        check->at);
    FAIL_IF(flow->load_permille > LOAD_FULL_PERMILLE, check->err,
        NVBW_E_INVALID, "flow %u offers a load of %u permille", check->at,
        flow->load_permille);
    FAIL_IF(flow->element > ELEMENT_LIMIT_BYTES ||
                (flow->element & (flow->element - 1)) != 0,
        check->err, NVBW_E_INVALID,
        "flow %u has elements of %u bytes; 1, 2, 4, 8 or 16 are possible",
        check->at, flow->element);
    FAIL_IF(flow->bytes > bytes_limit || flow->offset > bytes_limit, check->err,
        NVBW_E_INVALID, "flow %u is larger than any memory", check->at);
    return NVBW_OK;
}

static int is_pageable(uint32_t memory)
{
    return memory == NVBW_MEM_PAGEABLE || memory == NVBW_MEM_HUGE_PAGE;
}

static int32_t check_ring(const struct check *check)
{
    const struct nvbw_flow *const flow = check->flow;
    const int from_host =
        is_pageable(flow->src_memory) && flow->dst_memory == NVBW_MEM_DEVICE;
    const int to_host =
        is_pageable(flow->dst_memory) && flow->src_memory == NVBW_MEM_DEVICE;

    FAIL_IF(flow->ring > bytes_limit, check->err, NVBW_E_INVALID,
        "flow %u has a ring larger than any memory", check->at);
    FAIL_IF(flow->ring != 0 &&
                (flow->initiator != NVBW_BY_CE || !(from_host || to_host)),
        check->err, NVBW_E_INVALID,
        "flow %u has a ring, which is for copies by ce between pageable memory "
        "and a GPU",
        check->at);
    return NVBW_OK;
}

/* Only stores go to all at once, and only kernels of the host's have those. */
static int32_t check_multicast(const struct check *check)
{
    const struct nvbw_flow *const flow = check->flow;
    const int is_copy = flow->initiator == NVBW_BY_SM &&
                        flow->operation == NVBW_OP_COPY && flow->offset == 0;

    FAIL_IF(flow->src_memory == NVBW_MEM_MULTICAST ||
                (flow->dst_memory == NVBW_MEM_MULTICAST && !is_copy),
        check->err, NVBW_E_INVALID,
        "flow %u: multicast memory can only be the destination of copies by "
        "sm, aligned",
        check->at);
    return NVBW_OK;
}

static int32_t check_side(const struct check *check, enum side side,
    uint32_t memory, const char *which)
{
    const struct nvbw_flow *const flow = check->flow;
    const char *const operation = name_of(operation_names, flow->operation);
    const int is_none = memory == NVBW_MEM_NONE;

    FAIL_IF(side == SIDE_MUST && is_none, check->err, NVBW_E_INVALID,
        "flow %u has no %s, which %s needs", check->at, which, operation);
    FAIL_IF(side == SIDE_NONE && !is_none, check->err, NVBW_E_INVALID,
        "flow %u has a %s, which %s does not use", check->at, which, operation);
    FAIL_IF(!is_none && (initiators[flow->initiator].memory & BIT(memory)) == 0,
        check->err, NVBW_E_INVALID, "flow %u: %s cannot use %s memory as %s",
        check->at, name_of(initiator_names, flow->initiator),
        name_of(memory_names, memory), which);
    return NVBW_OK;
}

static int32_t check_initiator(const struct check *check)
{
    const struct nvbw_flow *const flow = check->flow;
    const struct operation_rule *const rule = &operations[flow->operation];
    const int is_plugin = flow->initiator == NVBW_BY_PLUGIN;

    FAIL_IF(
        (initiators[flow->initiator].operations & BIT(flow->operation)) == 0,
        check->err, NVBW_E_INVALID, "flow %u: %s cannot do %s", check->at,
        name_of(initiator_names, flow->initiator),
        name_of(operation_names, flow->operation));
    FAIL_IF(is_plugin && flow->enqueue == NULL, check->err, NVBW_E_INVALID,
        "flow %u by the plugin has no enqueue", check->at);
    FAIL_IF(!is_plugin && (flow->enqueue != NULL || flow->verify != NULL),
        check->err, NVBW_E_INVALID,
        "flow %u has enqueue or verify but is not by the plugin", check->at);
    if (is_plugin) {
        return NVBW_OK;
    }
    TRY(check_side(check, rule->src, flow->src_memory, "source"));
    return check_side(check, rule->dst, flow->dst_memory, "destination");
}

static int32_t check_place(const struct check *check, uint32_t memory,
    int32_t place, const char *which)
{
    const int on_host = flow_memory_on_host(memory);
    const uint32_t count =
        on_host ? check->unit->nodes_count : check->unit->gpus_count;

    if (memory == NVBW_MEM_NONE || memory == NVBW_MEM_MULTICAST ||
        (on_host && place == NVBW_NEAR)) {
        return NVBW_OK;
    }
    FAIL_IF(place < 0 || (uint32_t)place >= count, check->err, NVBW_E_INVALID,
        "flow %u has its %s at place %d of axis %s, which has %u entries",
        check->at, which, place, on_host ? "numa" : "gpu", count);
    return NVBW_OK;
}

static int32_t check_places(const struct check *check)
{
    const struct nvbw_flow *const flow = check->flow;
    const int by_cpu = flow->initiator == NVBW_BY_CPU;
    const uint32_t executors =
        by_cpu ? check->unit->nodes_count : check->unit->gpus_count;

    FAIL_IF(flow->executor < 0 || (uint32_t)flow->executor >= executors,
        check->err, NVBW_E_INVALID,
        "flow %u has executor %d of axis %s, which has %u entries", check->at,
        flow->executor, by_cpu ? "numa" : "gpu", executors);
    TRY(check_place(check, flow->src_memory, flow->src_place, "source"));
    return check_place(check, flow->dst_memory, flow->dst_place, "destination");
}

static int is_measurable(uint32_t unit)
{
    return unit == NVBW_UNIT_BYTES_PER_SECOND || unit == NVBW_UNIT_NANOSECONDS;
}

/* Also where the figure's unit can come of a measurement. */
static int32_t check_cell(const struct unit *unit, const struct nvbw_cell *cell,
    const char *what, uint32_t at, struct error *err)
{
    struct cell_place place;

    if (cell == NULL) {
        return NVBW_OK;
    }
    FAIL_IF(cell->metric == NULL, err, NVBW_E_INVALID,
        "%s of flow %u has no metric", what, at);

    const int32_t number =
        unit_cell_number(unit, cell->metric, cell->row, cell->col);

    FAIL_IF(number < 0 || !unit_cell_at(unit, (uint32_t)number, &place), err,
        NVBW_E_INVALID, "%s of flow %u is %s[%u][%u], which is not declared",
        what, at, cell->metric, cell->row, cell->col);
    FAIL_IF(!is_measurable(unit->shapes[place.shape].unit), err, NVBW_E_INVALID,
        "%s of flow %u: metric %s is neither in bytes per second nor in "
        "nanoseconds",
        what, at, cell->metric);
    return NVBW_OK;
}

static int32_t check_cells(const struct check *check)
{
    const struct nvbw_flow *const flow = check->flow;
    const int is_background = (flow->flags & NVBW_FLOW_BACKGROUND) != 0;

    FAIL_IF(is_background && (flow->cell != NULL || flow->reverse_cell != NULL),
        check->err, NVBW_E_INVALID, "background flow %u has a cell", check->at);
    FAIL_IF(flow->reverse_cell != NULL && flow->operation != NVBW_OP_SPLIT,
        check->err, NVBW_E_INVALID,
        "flow %u has a reverse cell but does not split", check->at);
    TRY(check_cell(check->unit, flow->cell, "the cell", check->at, check->err));
    return check_cell(check->unit, flow->reverse_cell, "the reverse cell",
        check->at, check->err);
}

static int32_t check_flow(const struct check *check)
{
    TRY(check_numbers(check));
    TRY(check_initiator(check));
    TRY(check_places(check));
    TRY(check_ring(check));
    TRY(check_multicast(check));
    return check_cells(check);
}

/* What holds of flows only together. */
static int32_t check_together(const struct nvbw_flow *const *flows,
    const struct nvbw_cell *total, struct error *err)
{
    uint32_t counted = 0;
    uint32_t cells = total != NULL;
    uint32_t by_cpu = 0;
    const uint32_t count = flow_count(flows);

    for (uint32_t i = 0; i < count; i++) {
        counted += (flows[i]->flags & NVBW_FLOW_BACKGROUND) == 0;
        cells += flows[i]->cell != NULL || flows[i]->reverse_cell != NULL;
        by_cpu += flows[i]->initiator == NVBW_BY_CPU;
    }
    FAIL_IF(counted == 0, err, NVBW_E_INVALID,
        "a measurement has no flow but background flows");
    FAIL_IF(cells == 0, err, NVBW_E_INVALID,
        "a measurement has no cell: its figure would go nowhere");
    FAIL_IF(by_cpu != 0 && by_cpu != count, err, NVBW_E_INVALID,
        "a measurement mixes flows by the CPU with others");
    return NVBW_OK;
}

int32_t flow_check(const struct facts *facts, const struct unit *unit,
    const struct nvbw_flow *const *flows, const struct nvbw_cell *total,
    struct error *err)
{
    const uint32_t count = flow_count(flows);

    (void)facts;
    FAIL_IF(count == 0, err, NVBW_E_INVALID, "a measurement has no flows");
    FAIL_IF(count > FLOW_LIMIT, err, NVBW_E_INVALID,
        "a measurement has more than %d flows; is its NULL missing",
        FLOW_LIMIT);
    for (uint32_t i = 0; i < count; i++) {
        const struct check check = { unit, flows[i], i, err };

        TRY(check_flow(&check));
    }
    TRY(check_cell(unit, total, "the total", 0, err));
    return check_together(flows, total, err);
}
