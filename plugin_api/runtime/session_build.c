/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "session_build.h"

#include "clock.h"
#include "flow.h"

static int32_t no_memory(struct error *err)
{
    return error_set(err, NVBW_E_SYSTEM, "no memory for a session");
}

static int32_t build_targets(struct session *session,
    struct measure_result *result, struct flow_target **out_targets,
    struct error *err)
{
    uint32_t count = 0;

    TRY(flow_targets(
        session->request, session->arena, out_targets, &count, err));
    session->targets_count = count;
    session->targets =
        arena_alloc(session->arena, count, sizeof *session->targets);
    if (session->targets == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct flow_target *const target = &(*out_targets)[i];

        session->targets[i] = (struct target){ .cell = target->cell,
            .record = &result->records[i],
            .is_total = target->is_total,
            .unit = target->unit,
            .part = target->part };
    }
    return NVBW_OK;
}

static void build_flow(
    struct session *session, const struct flow_target *targets, uint32_t i)
{
    const struct measure_request *const request = session->request;
    const struct nvbw_flow *const given = request->flows[i];
    struct flow_run *const run = &session->flows[i];

    run->given = given;
    flow_resolve(
        session->facts, request->unit, &session->params, given, &run->record);
    run->cell = flow_target_of(
        request->unit, targets, session->targets_count, given->cell);
    run->reverse = flow_target_of(
        request->unit, targets, session->targets_count, given->reverse_cell);
}

static void number_parts(struct session *session)
{
    for (uint32_t i = 0; i < flow_parts(session->request); i++) {
        const struct measure_part part = flow_part(session->request, i);

        for (uint32_t k = part.first; k < part.first + part.count; k++) {
            session->flows[k].part = i;
        }
    }
}

int32_t session_build(const struct facts *facts,
    const struct measure_request *request, struct measure_result *records,
    struct arena *arena, struct session *out, struct error *err)
{
    const uint32_t count = flow_count(request->flows);
    struct flow_target *targets = NULL;
    uint32_t counted = 0;

    *out = (struct session){ .facts = facts,
        .request = request,
        .params = request->params,
        .arena = arena,
        .flows_count = count };
    out->flows = arena_alloc(arena, count, sizeof *out->flows);
    if (out->flows == NULL) {
        return no_memory(err);
    }
    TRY(build_targets(out, records, &targets, err));
    for (uint32_t i = 0; i < count; i++) {
        build_flow(out, targets, i);
        counted += (request->flows[i]->flags & NVBW_FLOW_BACKGROUND) == 0;
    }
    number_parts(out);
    out->contended = counted > 1 || counted < count;
    return NVBW_OK;
}

int32_t session_choose(struct session *session, struct error *err)
{
    uint32_t by_cpu = 0;

    for (uint32_t i = 0; i < session->flows_count; i++) {
        by_cpu += session->flows[i].record.initiator == NVBW_BY_CPU;
    }
    FAIL_IF(by_cpu > 0 && by_cpu < session->flows_count, err, NVBW_E_INVALID,
        "flows by the CPU and flows by GPUs cannot be measured together");
    session->backend = by_cpu > 0 ? &backend_cpu : &backend_cuda;
    return flow_support_check(session, err);
}

static void finish_flows(
    const struct session *session, const struct target *target)
{
    const uint32_t first = flow_part(session->request, target->part).first;
    struct record *const record = target->record;

    for (uint32_t i = 0; i < record->flows_count; i++) {
        const uint32_t counted = record->flows[i].counted;

        record->flows[i] = session->flows[first + i].record;
        record->flows[i].counted = counted;
    }
}

void session_finish(struct session *session, uint64_t begin_ns)
{
    const uint64_t end_ns = clock_machine_ns();

    for (uint32_t i = 0; i < session->targets_count; i++) {
        struct record *const record = session->targets[i].record;

        finish_flows(session, &session->targets[i]);
        if (record->clock == NULL && session->backend != NULL) {
            record->clock = session->backend->clock;
        }
        record->begin_ns = begin_ns;
        record->end_ns = end_ns;
    }
}
