/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "service_take.h"

#include "abi.h"
#include "cancel.h"
#include "flow.h"

enum {
    FLOW_FLAGS = NVBW_FLOW_BACKGROUND | NVBW_FLOW_SYNC | NVBW_FLOW_STAGED |
                 NVBW_FLOW_DEFAULT_STREAM | NVBW_FLOW_HOST_CLOCK
};

struct taking {
    struct service *service;
    struct arena *arena;
    struct error *err;
};

static int32_t no_memory(const struct taking *taking)
{
    return error_set(taking->err, NVBW_E_SYSTEM, "no memory for a measurement");
}

static int is_cancelled(void *user)
{
    (void)user;
    return cancel_requested();
}

static struct measure_request make_request(struct service *service)
{
    return (struct measure_request){
        .unit = &service->run->unit,
        .params = service->run->measure,
        .allow_multicast = service->run->task->allow_multicast,
        .ctx = &service->ctx,
        /* Rank 0 alone is asked to stop, and the others would not know. */
        .cancelled = service->run->facts->ranks > 0 ? NULL : is_cancelled,
        .between_samples = service_between_samples,
        .read = service_read,
        .await_reading = service_await_reading,
        .user = service,
    };
}

/* ---- one measurement ---- */

static int32_t take_cell(const struct taking *taking,
    const struct nvbw_cell *given, const struct nvbw_cell **out)
{
    struct nvbw_cell *const cell = arena_alloc(taking->arena, 1, sizeof *cell);

    *out = NULL;
    if (given == NULL) {
        return NVBW_OK;
    }
    if (cell == NULL) {
        return no_memory(taking);
    }
    TRY(abi_read(given, "cell", 0, cell, sizeof *cell, taking->err));
    *out = cell;
    return NVBW_OK;
}

static int32_t take_flow(const struct taking *taking,
    const struct nvbw_flow *given, const struct nvbw_flow **out)
{
    struct nvbw_flow *const flow = arena_alloc(taking->arena, 1, sizeof *flow);

    if (flow == NULL) {
        return no_memory(taking);
    }
    TRY(abi_read(given, "flow", FLOW_FLAGS, flow, sizeof *flow, taking->err));
    TRY(take_cell(taking, flow->cell, &flow->cell));
    TRY(take_cell(taking, flow->reverse_cell, &flow->reverse_cell));
    *out = flow;
    return NVBW_OK;
}

static int32_t take_measurement(const struct taking *taking,
    const struct nvbw_measurement *given, struct nvbw_measurement *out_read,
    struct measure_request *out)
{
    TRY(abi_read(given, "measurement", NVBW_MEASURE_ANY_ORDER, out_read,
        sizeof *out_read, taking->err));

    const uint32_t count = flow_count(out_read->flows);

    FAIL_IF(count > FLOW_LIMIT, taking->err, NVBW_E_INVALID,
        "a measurement has more than %d flows; is its NULL missing",
        FLOW_LIMIT);

    const struct nvbw_flow **const flows =
        arena_alloc(taking->arena, (size_t)count + 1, sizeof *flows);

    if (flows == NULL) {
        return no_memory(taking);
    }
    for (uint32_t i = 0; i < count; i++) {
        TRY(take_flow(taking, out_read->flows[i], &flows[i]));
    }
    *out = make_request(taking->service);
    out->flows = flows;
    out->any_order = (out_read->flags & NVBW_MEASURE_ANY_ORDER) != 0;
    TRY(take_cell(taking, out_read->total, &out->total));
    return flow_check(taking->service->run->facts, out->unit, out->flows,
        out->total, taking->err);
}

/* ---- side by side ---- */

/* A part's GPUs, none of which another part has. `users` has for each GPU of
 * the unit the number of the part that uses it, from 1. */
static int32_t claim(const struct taking *taking, uint32_t *users,
    int32_t position, uint32_t part)
{
    uint32_t *const user = &users[position];

    FAIL_IF(*user != 0 && *user != part + 1, taking->err, NVBW_E_INVALID,
        "GPU %d is used by two measurements beside each other", position);
    *user = part + 1;
    return NVBW_OK;
}

static int32_t claim_side(const struct taking *taking, uint32_t *users,
    uint32_t memory, int32_t place, uint32_t part)
{
    FAIL_IF(flow_memory_on_host(memory) || memory == NVBW_MEM_MULTICAST,
        taking->err, NVBW_E_INVALID,
        "a measurement beside others uses memory that is not one GPU's own");
    return memory == NVBW_MEM_NONE ? NVBW_OK
                                   : claim(taking, users, place, part);
}

static int32_t claim_flow(const struct taking *taking, uint32_t *users,
    const struct nvbw_flow *flow, uint32_t part)
{
    FAIL_IF((flow->flags & NVBW_FLOW_BACKGROUND) != 0 ||
                flow->initiator == NVBW_BY_CPU,
        taking->err, NVBW_E_INVALID,
        "a measurement beside others has a flow in the background or by the "
        "CPU");
    TRY(claim(taking, users, flow->executor, part));
    TRY(claim_side(taking, users, flow->src_memory, flow->src_place, part));
    return claim_side(taking, users, flow->dst_memory, flow->dst_place, part);
}

static int32_t check_apart(
    const struct taking *taking, const struct taken *taken)
{
    uint32_t *const users = arena_alloc(taking->arena,
        (size_t)taking->service->run->unit.gpus_count + 1, sizeof *users);
    uint32_t cells = 0;
    uint32_t all_cells = 0;
    struct flow_target *targets = NULL;

    if (users == NULL) {
        return no_memory(taking);
    }
    for (uint32_t i = 0; i < taken->parts_count; i++) {
        const struct measure_request *const part = &taken->parts[i];
        uint32_t count = 0;

        for (uint32_t k = 0; part->flows[k] != NULL; k++) {
            TRY(claim_flow(taking, users, part->flows[k], i));
        }
        TRY(flow_targets(part, taking->arena, &targets, &count, taking->err));
        cells += count;
    }
    TRY(flow_targets(
        &taken->all, taking->arena, &targets, &all_cells, taking->err));
    FAIL_IF(cells != all_cells, taking->err, NVBW_E_INVALID,
        "a cell is in two measurements beside each other");
    return NVBW_OK;
}

static int32_t join(const struct taking *taking, struct taken *taken)
{
    struct measure_part *const parts =
        arena_alloc(taking->arena, taken->parts_count, sizeof *parts);
    uint32_t count = 0;

    for (uint32_t i = 0; parts != NULL && i < taken->parts_count; i++) {
        parts[i] = (struct measure_part){ count,
            flow_count(taken->parts[i].flows), taken->parts[i].total };
        count += parts[i].count;
    }
    FAIL_IF(count > FLOW_LIMIT, taking->err, NVBW_E_INVALID,
        "measurements beside each other have more than %d flows", FLOW_LIMIT);

    const struct nvbw_flow **const flows =
        arena_alloc(taking->arena, (size_t)count + 1, sizeof *flows);

    if (parts == NULL || flows == NULL) {
        return no_memory(taking);
    }
    for (uint32_t i = 0; i < taken->parts_count; i++) {
        for (uint32_t k = 0; k < parts[i].count; k++) {
            flows[parts[i].first + k] = taken->parts[i].flows[k];
        }
    }
    taken->all = make_request(taking->service);
    taken->all.flows = flows;
    taken->all.parts = parts;
    taken->all.parts_count = taken->parts_count;
    return check_apart(taking, taken);
}

static uint32_t count_beside(const struct nvbw_measurement *const *beside)
{
    uint32_t count = 0;

    while (beside != NULL && count <= FLOW_LIMIT && beside[count] != NULL) {
        count++;
    }
    return count;
}

int32_t service_take(struct service *service,
    const struct nvbw_measurement *given, struct arena *arena,
    struct taken *out, struct error *err)
{
    const struct taking taking = { service, arena, err };
    struct nvbw_measurement read;
    struct nvbw_measurement other;
    struct measure_request first;

    TRY(take_measurement(&taking, given, &read, &first));

    const uint32_t beside = count_beside(read.beside);

    FAIL_IF(beside > FLOW_LIMIT, err, NVBW_E_INVALID,
        "a measurement has more than %d beside it; is its NULL missing",
        FLOW_LIMIT);
    out->parts_count = 1 + beside;
    out->parts = arena_alloc(arena, out->parts_count, sizeof *out->parts);
    if (out->parts == NULL) {
        return no_memory(&taking);
    }
    out->parts[0] = first;
    for (uint32_t i = 0; i < beside; i++) {
        TRY(take_measurement(
            &taking, read.beside[i], &other, &out->parts[i + 1]));
        FAIL_IF(count_beside(other.beside) > 0, err, NVBW_E_INVALID,
            "a measurement beside another has others beside itself");
    }
    if (beside == 0) {
        out->all = first;
        return NVBW_OK;
    }
    return join(&taking, out);
}
