/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* measure(): a plugin's flows to the engine, the engine's records to the
 * host. */
#include "service_take.h"

#include <stdio.h>

#include "cancel.h"
#include "clock.h"
#include "flow.h"
#include "state.h"

enum { MEASURE_ARENA_BYTES = 512 << 20 };

static int32_t no_memory(struct error *err)
{
    return error_set(err, NVBW_E_SYSTEM, "no memory for a measurement");
}

/* The driver's start and new contexts take seconds on large machines: that is
 * no part of the time that a cell has, so it comes before its BEGIN. */
static void wake_gpus(
    const struct service *service, const struct begin_frame *begin)
{
    const struct unit *const unit = &service->run->unit;
    const struct gpu_positions needed = { begin->gpus, begin->gpus_count };
    const struct gpu_positions later = { unit->gpus, unit->gpus_count };

    if (begin->gpus_count > 0) {
        engine_wake_gpus(service->run->engine, needed, later);
    }
}

/* What is in flight while a request is carried out. */
struct flight {
    struct service *service;
    const struct measure_request *request;
    struct arena *arena;
    struct flow_target *targets;
    uint32_t targets_count;
};

static int32_t find_targets(struct flight *flight, struct error *err)
{
    return flow_targets(flight->request, flight->arena, &flight->targets,
        &flight->targets_count, err);
}

static int is_wanted(const struct flight *flight)
{
    for (uint32_t i = 0; i < flight->targets_count; i++) {
        if (service_wants(flight->service, flight->targets[i].number)) {
            return 1;
        }
    }
    return 0;
}

static int32_t send_begin(const struct flight *flight, struct error *err)
{
    const struct measure_request *const request = flight->request;
    const size_t count = flow_count(request->flows);
    struct flow_record *const flows =
        arena_alloc(flight->arena, count, sizeof *flows);
    struct begin_frame begin = { .parts = flow_parts(request) };

    begin.gpus = arena_alloc(flight->arena, count * 3, sizeof *begin.gpus);
    begin.cells =
        arena_alloc(flight->arena, flight->targets_count, sizeof *begin.cells);
    if (flows == NULL || begin.gpus == NULL || begin.cells == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < count; i++) {
        flow_resolve(flight->service->run->facts, request->unit,
            &request->params, request->flows[i], &flows[i]);
    }
    begin.gpus_count = flow_gpus(flows, (uint32_t)count, begin.gpus);
    for (uint32_t i = 0; i < flight->targets_count; i++) {
        if (service_wants(flight->service, flight->targets[i].number)) {
            begin.cells[begin.cells_count++] = flight->targets[i].number;
        }
    }
    wake_gpus(flight->service, &begin);
    service_restart_clock(flight->service);
    begin.now_ns = clock_machine_ns();
    service_send(flight->service, FRAME_BEGIN, &begin);
    flight->service->run->reads.gpus = begin.gpus;
    flight->service->run->reads.gpus_count = begin.gpus_count;
    service_read(flight->service, READ_BEGIN);
    return NVBW_OK;
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

static int32_t measure(const struct flight *flight,
    struct measure_result *result, struct error *err)
{
    struct task_run *const run = flight->service->run;

    if (run->recording) {
        return engine_record_only(
            run->facts, flight->request, flight->arena, result, err);
    }
    TRY(send_begin(flight, err));

    const int32_t status = engine_measure(
        run->engine, flight->request, flight->arena, result, err);

    run->reads.gpus_count = 0;
    return status;
}

/* 1 for a figure, and for bytes of this very cell that were wrong. */
static int is_own_word(const struct record *record)
{
    return record->state == STATE_MEASURED ||
           (record->state == STATE_MISMATCH && record->mismatches > 0);
}

static void log_trouble(
    const struct flight *flight, const struct record *record)
{
    char text[512];

    snprintf(text, sizeof text,
        "%s, row %u, column %u and what ran beside it are measured one after "
        "another: %s",
        record->metric, record->row, record->col,
        record->message != NULL ? record->message : "no reason was given");
    service_host.log(&flight->service->ctx, NVBW_LOG_WARN, text);
}

/* Of what was measured side by side only what came to a word of its own is
 * settled: a trouble that all share may be the doing of one. */
static void keep_own_words(
    const struct flight *flight, struct measure_result *result)
{
    uint32_t kept = 0;
    uint32_t dropped = 0;

    if (flow_parts(flight->request) == 1 || flight->service->run->recording) {
        return;
    }
    for (uint32_t i = 0; i < result->records_count; i++) {
        const struct record *const record = &result->records[i];

        if (is_own_word(record)) {
            result->records[kept++] = *record;
        } else if (dropped++ == 0) {
            log_trouble(flight, record);
        }
    }
    result->records_count = kept;
}

static int32_t carry_out(struct service *service,
    const struct measure_request *request, struct arena *arena,
    struct error *err)
{
    struct task_run *const run = service->run;
    struct flight flight = { service, request, arena, NULL, 0 };
    struct measure_result result = { 0 };

    TRY(find_targets(&flight, err));
    if (!is_wanted(&flight)) {
        return NVBW_OK;
    }
    run->measuring = 1;

    const int32_t status = measure(&flight, &result, err);

    run->measuring = 0;
    keep_own_words(&flight, &result);
    settle_records(service, &result);
    run->poisoned = result.poisoned;
    return status;
}

/* At once, and one after another what came to nothing that way. */
static int32_t carry_out_all(struct service *service, const struct taken *taken,
    struct arena *arena, struct error *err)
{
    const struct task_run *const run = service->run;

    if (taken->parts_count == 1 || !run->task->apart) {
        TRY(carry_out(service, &taken->all, arena, err));
    }
    for (uint32_t i = 0; taken->parts_count > 1 && i < taken->parts_count &&
                         !run->recording && !run->poisoned;
         i++) {
        TRY(carry_out(service, &taken->parts[i], arena, err));
    }
    return NVBW_OK;
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

    struct taken taken = { .parts = NULL };
    struct arena arena;

    arena_init(&arena, MEASURE_ARENA_BYTES);

    int32_t status = service_take(service, measurement, &arena, &taken, &err);

    if (status == NVBW_E_INVALID) {
        service_broken(service, "C13: measure(): %s", err.text);
    } else if (status == NVBW_OK) {
        status = carry_out_all(service, &taken, &arena, &err);
    }
    arena_clear(&arena);
    if (status < 0) {
        run->trouble = err;
        run->trouble.status = status;
    }
    service_flush_log(service);
    return run->poisoned ? NVBW_E_CUDA : status;
}
