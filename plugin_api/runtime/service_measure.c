/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* measure(): a plugin's flows to the engine, the engine's records to the
 * host. */
#include "service.h"

#include "abi.h"
#include "cancel.h"
#include "clock.h"
#include "flow.h"
#include "state.h"

enum {
    MEASURE_ARENA_BYTES = 512 << 20,
    FLOW_FLAGS = NVBW_FLOW_BACKGROUND | NVBW_FLOW_SYNC | NVBW_FLOW_STAGED |
                 NVBW_FLOW_DEFAULT_STREAM
};

/* A measurement in this build's structs. */
struct taken {
    struct arena arena; /* lives as long as the call */
    const struct nvbw_flow **flows;
    uint32_t flows_count;
    const struct nvbw_cell *total;
    struct flow_target *targets;
    uint32_t targets_count;
};

static int32_t no_memory(struct error *err)
{
    return error_set(err, NVBW_E_SYSTEM, "no memory for a measurement");
}

static int32_t take_cell(struct taken *taken, const struct nvbw_cell *given,
    const struct nvbw_cell **out, struct error *err)
{
    struct nvbw_cell *const cell = arena_alloc(&taken->arena, 1, sizeof *cell);

    *out = NULL;
    if (given == NULL) {
        return NVBW_OK;
    }
    if (cell == NULL) {
        return no_memory(err);
    }
    TRY(abi_read(given, "cell", 0, cell, sizeof *cell, err));
    *out = cell;
    return NVBW_OK;
}

static int32_t take_flow(struct taken *taken, const struct nvbw_flow *given,
    const struct nvbw_flow **out, struct error *err)
{
    struct nvbw_flow *const flow = arena_alloc(&taken->arena, 1, sizeof *flow);

    if (flow == NULL) {
        return no_memory(err);
    }
    TRY(abi_read(given, "flow", FLOW_FLAGS, flow, sizeof *flow, err));
    TRY(take_cell(taken, flow->cell, &flow->cell, err));
    TRY(take_cell(taken, flow->reverse_cell, &flow->reverse_cell, err));
    *out = flow;
    return NVBW_OK;
}

static int32_t take(const struct task_run *run,
    const struct nvbw_measurement *given, struct taken *taken,
    struct error *err)
{
    struct nvbw_measurement measurement;

    TRY(abi_read(
        given, "measurement", 0, &measurement, sizeof measurement, err));
    taken->flows_count = flow_count(measurement.flows);
    FAIL_IF(taken->flows_count > FLOW_LIMIT, err, NVBW_E_INVALID,
        "a measurement has more than %d flows; is its NULL missing",
        FLOW_LIMIT);
    taken->flows = arena_alloc(
        &taken->arena, taken->flows_count + 1, sizeof *taken->flows);
    if (taken->flows == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < taken->flows_count; i++) {
        TRY(take_flow(taken, measurement.flows[i], &taken->flows[i], err));
    }
    TRY(take_cell(taken, measurement.total, &taken->total, err));
    TRY(flow_check(run->facts, &run->unit, taken->flows, taken->total, err));
    return flow_targets(&run->unit, taken->flows, taken->total, &taken->arena,
        &taken->targets, &taken->targets_count, err);
}

static int is_wanted(const struct service *service, const struct taken *taken)
{
    for (uint32_t i = 0; i < taken->targets_count; i++) {
        if (service_wants(service, taken->targets[i].number)) {
            return 1;
        }
    }
    return 0;
}

/* The driver's start and new contexts take seconds on large machines: that is
 * no part of the time that a cell has, so it comes before its BEGIN. */
static void wake_gpus(
    const struct service *service, const struct begin_frame *begin)
{
    if (begin->gpus_count > 0) {
        engine_wake_gpus(service->run->engine, begin->gpus, begin->gpus_count);
    }
}

static int32_t send_begin(
    struct service *service, struct taken *taken, struct error *err)
{
    const struct task_run *const run = service->run;
    const size_t count = taken->flows_count;
    struct flow_record *const flows =
        arena_alloc(&taken->arena, count, sizeof *flows);
    struct begin_frame begin = { 0 };

    begin.gpus = arena_alloc(&taken->arena, count * 3, sizeof *begin.gpus);
    begin.cells =
        arena_alloc(&taken->arena, taken->targets_count, sizeof *begin.cells);
    if (flows == NULL || begin.gpus == NULL || begin.cells == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < count; i++) {
        flow_resolve(
            run->facts, &run->unit, &run->measure, taken->flows[i], &flows[i]);
    }
    begin.gpus_count = flow_gpus(flows, (uint32_t)count, begin.gpus);
    for (uint32_t i = 0; i < taken->targets_count; i++) {
        if (service_wants(service, taken->targets[i].number)) {
            begin.cells[begin.cells_count++] = taken->targets[i].number;
        }
    }
    wake_gpus(service, &begin);
    service_restart_clock(service);
    begin.now_ns = clock_machine_ns();
    service_send(service, FRAME_BEGIN, &begin);
    return NVBW_OK;
}

static int is_cancelled(void *user)
{
    (void)user;
    return cancel_requested();
}

static void settle_records(
    struct service *service, struct measure_result *result)
{
    const struct unit *const unit = &service->run->unit;

    for (uint32_t i = 0; i < result->records_count; i++) {
        struct record *const record = &result->records[i];
        const int32_t number = record->metric == NULL
                                   ? -1
                                   : unit_cell_number(unit, record->metric,
                                         record->row, record->col);

        if (number >= 0) {
            service_settle(service, (uint32_t)number, record);
        }
    }
}

static int32_t carry_out(
    struct service *service, struct taken *taken, struct error *err)
{
    struct task_run *const run = service->run;
    const struct measure_request request = {
        .unit = &run->unit,
        .params = run->measure,
        .flows = taken->flows,
        .total = taken->total,
        .ctx = &service->ctx,
        .cancelled = is_cancelled,
        .between_samples = service_between_samples,
        .user = service,
    };
    struct measure_result result = { 0 };
    int32_t status = NVBW_OK;

    run->measuring = 1;
    if (run->recording) {
        status = engine_record_only(
            run->facts, &request, &taken->arena, &result, err);
    } else {
        status = send_begin(service, taken, err);
        if (status == NVBW_OK) {
            status = engine_measure(
                run->engine, &request, &taken->arena, &result, err);
        }
    }
    run->measuring = 0;
    settle_records(service, &result);
    run->poisoned = result.poisoned;
    return status;
}

int32_t service_measure(
    struct nvbw_ctx *ctx, const struct nvbw_measurement *measurement)
{
    struct service *const service = service_of(ctx);
    struct task_run *const run = service->run;
    struct error err = { 0 };

    if (service_is_over(service)) {
        return NVBW_E_INVALID;
    }
    TRY(service_check_idle(service, "measure"));
    if (cancel_requested()) {
        return NVBW_E_CANCELLED;
    }

    struct taken taken = { 0 };

    arena_init(&taken.arena, MEASURE_ARENA_BYTES);

    int32_t status = take(run, measurement, &taken, &err);

    if (status == NVBW_E_INVALID) {
        service_broken(service, "C13: measure(): %s", err.text);
    } else if (status == NVBW_OK && is_wanted(service, &taken)) {
        status = carry_out(service, &taken, &err);
    }
    arena_clear(&taken.arena);
    if (status < 0) {
        run->trouble = err;
        run->trouble.status = status;
    }
    service_flush_log(service);
    return run->poisoned ? NVBW_E_CUDA : status;
}
