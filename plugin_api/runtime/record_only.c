/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A measurement without measuring: what plans, estimates and explanations are
 * made from. */
#include "flow.h"

#include <string.h>

#include "session.h"

static int32_t no_memory(struct error *err)
{
    return error_set(err, NVBW_E_SYSTEM, "no memory to record a measurement");
}

/* The flows of its part once for every record, since `counted` differs. */
static int32_t add_flows(const struct measure_request *request,
    const struct flow_record *resolved, const struct flow_target *target,
    struct arena *arena, struct record *record, struct error *err)
{
    const struct measure_part part = flow_part(request, target->part);
    struct flow_record *const flows =
        arena_alloc(arena, part.count, sizeof *flows);
    uint32_t *const gpus =
        arena_alloc(arena, (size_t)part.count * 3, sizeof *gpus);

    if (flows == NULL || gpus == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < part.count; i++) {
        flows[i] = resolved[part.first + i];
        flows[i].counted = (uint32_t)flow_is_counted(
            request->unit, target, request->flows[part.first + i]);
    }
    record->flows = flows;
    record->flows_count = part.count;
    record->gpus = gpus;
    record->gpus_count = flow_gpus(flows, part.count, gpus);
    return NVBW_OK;
}

static void describe_target(const struct measure_request *request,
    const struct flow_target *target, struct record *out)
{
    const struct measure_params *const params = &request->params;

    record_init(out);
    out->metric = target->cell->metric;
    out->row = target->cell->row;
    out->col = target->cell->col;
    out->mode = params->fixed ? "fixed" : "adaptive";
    out->warmup = params->warmup;
    if (params->fixed) {
        out->copies = params->copies;
    }
}

static int32_t make_records(const struct measure_request *request,
    const struct flow_record *resolved, struct arena *arena,
    struct measure_result *out, struct error *err)
{
    struct flow_target *targets = NULL;

    TRY(flow_targets(request, arena, &targets, &out->records_count, err));
    out->records = arena_alloc(arena, out->records_count, sizeof *out->records);
    if (out->records == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < out->records_count; i++) {
        struct record *const record = &out->records[i];

        describe_target(request, &targets[i], record);
        TRY(add_flows(request, resolved, &targets[i], arena, record, err));
        if (flow_parts(request) > 1) {
            settle_flag(arena, record, "concurrent");
        }
    }
    return NVBW_OK;
}

int32_t engine_record_only(const struct facts *facts,
    const struct measure_request *request, struct arena *arena,
    struct measure_result *out, struct error *err)
{
    const uint32_t count = flow_count(request->flows);
    struct flow_record *const resolved =
        arena_alloc(arena, count, sizeof *resolved);

    *out = (struct measure_result){ 0 };
    if (resolved == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < count; i++) {
        flow_resolve(facts, request->unit, &request->params, request->flows[i],
            &resolved[i]);
    }
    return make_records(request, resolved, arena, out, err);
}
