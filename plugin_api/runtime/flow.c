/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "flow.h"

#include <stdlib.h>
#include <string.h>

#include "copy_size.h"

int flow_memory_on_host(uint32_t memory)
{
    return memory == NVBW_MEM_PINNED || memory == NVBW_MEM_PAGEABLE ||
           memory == NVBW_MEM_WRITE_COMBINED || memory == NVBW_MEM_HUGE_PAGE ||
           memory == NVBW_MEM_MANAGED;
}

enum { WIDEST_BYTES = 16 };

static const uint32_t stream_arrays[] = {
    [NVBW_OP_STREAM_COPY] = 2,
    [NVBW_OP_SCALE] = 2,
    [NVBW_OP_ADD] = 3,
    [NVBW_OP_TRIAD] = 3,
    [NVBW_OP_DOT] = 2,
};
enum { STREAM_END = sizeof stream_arrays / sizeof stream_arrays[0] };

uint32_t flow_stream_arrays(const struct flow_record *flow)
{
    return flow->operation < STREAM_END ? stream_arrays[flow->operation] : 0;
}

int flow_has_third(const struct flow_record *flow)
{
    return flow->operation == NVBW_OP_TRIAD || flow->operation == NVBW_OP_ADD ||
           flow->operation == NVBW_OP_DOT;
}

int flow_is_access(const struct flow_record *flow)
{
    return flow->initiator == NVBW_BY_SM && flow->stride != 0 &&
           (flow->operation == NVBW_OP_COPY ||
               flow->operation == NVBW_OP_READ ||
               flow->operation == NVBW_OP_WRITE);
}

int flow_is_load(const struct flow_record *flow)
{
    return flow->initiator == NVBW_BY_SM && flow->operation == NVBW_OP_READ &&
           (flow->flags & NVBW_FLOW_BACKGROUND) != 0 && flow->stride == 0 &&
           flow->load_permille != 0;
}

int flow_is_stream(const struct flow_record *flow)
{
    return flow->initiator == NVBW_BY_SM && flow_stream_arrays(flow) > 0;
}

struct flow_accesses flow_accesses_of(const struct flow_record *flow)
{
    const uint64_t element = flow->element != 0 ? flow->element : WIDEST_BYTES;
    const uint64_t elements = flow->bytes / element;
    const uint64_t step =
        flow->stride / element > 0 ? flow->stride / element : 1;
    struct flow_accesses all = { .element = element,
        .step = step,
        .count = elements / step + (elements % step != 0) };

    if (flow->stride == NVBW_STRIDE_RANDOM) {
        all.random = 1;
        all.step = 1;
        while (elements >> all.bits > 1) {
            all.bits++;
        }
        all.count = elements > 0 ? UINT64_C(1) << all.bits : 0;
    }
    return all;
}

uint64_t flow_counted_bytes(const struct flow_record *flow)
{
    if (flow_is_access(flow)) {
        const struct flow_accesses all = flow_accesses_of(flow);

        return all.count * all.element;
    }
    return flow_is_stream(flow) ? flow_stream_arrays(flow) * flow->bytes
                                : flow->bytes;
}

uint32_t flow_count(const struct nvbw_flow *const *flows)
{
    uint32_t count = 0;

    while (flows != NULL && count <= FLOW_LIMIT && flows[count] != NULL) {
        count++;
    }
    return count;
}

static int32_t place_near(
    const struct facts *facts, const struct flow_record *flow)
{
    if (flow->initiator == NVBW_BY_CPU) {
        return flow->executor;
    }
    return facts_find_node(facts, facts->gpus[flow->executor].near_node);
}

static int32_t resolve_place(const struct facts *facts, const struct unit *unit,
    const struct flow_record *flow, uint32_t memory, int32_t place)
{
    if (memory == NVBW_MEM_NONE || memory == NVBW_MEM_MULTICAST) {
        return -1;
    }
    if (place == NVBW_NEAR) {
        return place_near(facts, flow);
    }
    return (int32_t)(flow_memory_on_host(memory) ? unit->nodes[place]
                                                 : unit->gpus[place]);
}

void flow_resolve(const struct facts *facts, const struct unit *unit,
    const struct measure_params *params, const struct nvbw_flow *flow,
    struct flow_record *out)
{
    const int has_memory =
        flow->src_memory != NVBW_MEM_NONE || flow->dst_memory != NVBW_MEM_NONE;
    const uint32_t *const executors =
        flow->initiator == NVBW_BY_CPU ? unit->nodes : unit->gpus;

    *out = (struct flow_record){
        .initiator = flow->initiator,
        .operation = flow->operation,
        .src_memory = flow->src_memory,
        .dst_memory = flow->dst_memory,
        .executor = (int32_t)executors[flow->executor],
        .flags = flow->flags,
        .bytes = flow->bytes,
        .copies = flow->repeats,
        .repeats = flow->repeats,
        .load_permille = flow->load_permille,
        .element = flow->element,
        .stride = flow->stride,
        .offset = flow->offset,
        .ring = flow->ring,
    };
    if (out->copies == 0 && params->fixed) {
        out->copies = params->copies;
    }
    out->src_place =
        resolve_place(facts, unit, out, flow->src_memory, flow->src_place);
    out->dst_place =
        resolve_place(facts, unit, out, flow->dst_memory, flow->dst_place);
    if (out->bytes == 0 && has_memory) {
        out->bytes = copy_size(facts, out, params);
    }
}

static int32_t number_of(const struct unit *unit, const struct nvbw_cell *cell)
{
    return unit_cell_number(unit, cell->metric, cell->row, cell->col);
}

int32_t flow_target_of(const struct unit *unit,
    const struct flow_target *targets, uint32_t count,
    const struct nvbw_cell *cell)
{
    if (cell == NULL) {
        return -1;
    }

    const int32_t number = number_of(unit, cell);

    for (uint32_t i = 0; i < count; i++) {
        if ((int32_t)targets[i].number == number) {
            return (int32_t)i;
        }
    }
    return -1;
}

uint32_t flow_parts(const struct measure_request *request)
{
    return request->parts_count > 0 ? request->parts_count : 1;
}

struct measure_part flow_part(
    const struct measure_request *request, uint32_t part)
{
    const struct measure_part all = { 0, flow_count(request->flows),
        request->total };

    return request->parts_count > 0 ? request->parts[part] : all;
}

struct target_list {
    const struct unit *unit;
    struct flow_target *targets;
    uint32_t count;
    uint32_t part; /* being added */
};

static void add_target(
    struct target_list *list, const struct nvbw_cell *cell, uint32_t is_total)
{
    struct cell_place place;

    if (cell == NULL ||
        flow_target_of(list->unit, list->targets, list->count, cell) >= 0) {
        return;
    }

    const uint32_t number = (uint32_t)number_of(list->unit, cell);

    if (unit_cell_at(list->unit, number, &place)) {
        list->targets[list->count] = (struct flow_target){ .cell = cell,
            .number = number,
            .unit = list->unit->shapes[place.shape].unit,
            .is_total = is_total,
            .part = list->part };
        list->count++;
    }
}

static void add_part(struct target_list *list,
    const struct measure_request *request, uint32_t number)
{
    const struct measure_part part = flow_part(request, number);

    list->part = number;
    for (uint32_t i = part.first; i < part.first + part.count; i++) {
        add_target(list, request->flows[i]->cell, 0);
        add_target(list, request->flows[i]->reverse_cell, 0);
    }
    add_target(list, part.total, 1);
}

int32_t flow_targets(const struct measure_request *request, struct arena *arena,
    struct flow_target **out_targets, uint32_t *out_count, struct error *err)
{
    const uint32_t count = flow_count(request->flows);
    const uint32_t parts = flow_parts(request);
    struct target_list list = { .unit = request->unit };

    list.targets =
        arena_alloc(arena, (size_t)count * 2 + parts, sizeof *list.targets);
    FAIL_IF(list.targets == NULL, err, NVBW_E_SYSTEM,
        "no memory for the cells of %u flows", count);
    for (uint32_t i = 0; i < parts; i++) {
        add_part(&list, request, i);
    }
    *out_targets = list.targets;
    *out_count = list.count;
    return NVBW_OK;
}

static int is_cell_of(const struct unit *unit, const struct flow_target *target,
    const struct nvbw_cell *cell)
{
    return cell != NULL && number_of(unit, cell) == (int32_t)target->number;
}

int flow_is_counted(const struct unit *unit, const struct flow_target *target,
    const struct nvbw_flow *flow)
{
    return target->is_total || is_cell_of(unit, target, flow->cell) ||
           is_cell_of(unit, target, flow->reverse_cell);
}

static void add_gpu(uint32_t *gpus, uint32_t *count, int32_t gpu)
{
    uint32_t at = 0;

    if (gpu < 0) {
        return;
    }
    while (at < *count && gpus[at] < (uint32_t)gpu) {
        at++;
    }
    if (at < *count && gpus[at] == (uint32_t)gpu) {
        return;
    }
    memmove(gpus + at + 1, gpus + at, (*count - at) * sizeof *gpus);
    gpus[at] = (uint32_t)gpu;
    *count += 1;
}

uint32_t flow_gpus(
    const struct flow_record *flows, uint32_t count, uint32_t *out_gpus)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct flow_record *const flow = &flows[i];

        if (flow->initiator != NVBW_BY_CPU) {
            add_gpu(out_gpus, &found, flow->executor);
        }
        if (!flow_memory_on_host(flow->src_memory)) {
            add_gpu(out_gpus, &found, flow->src_place);
        }
        if (!flow_memory_on_host(flow->dst_memory)) {
            add_gpu(out_gpus, &found, flow->dst_place);
        }
    }
    return found;
}
