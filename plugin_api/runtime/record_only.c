/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A measurement without measuring: what plans, estimates and explanations are
 * made from. */
#include "flow.h"

#include <string.h>

static int32_t no_memory(struct error *err)
{
    return error_set(err, NVBW_E_SYSTEM, "no memory to record a measurement");
}

/* The flows once for every record, since `counted` differs. */
static struct flow_record *flows_of(const struct measure_request *request,
    const struct flow_record *resolved, uint32_t count,
    const struct flow_target *target, struct arena *arena)
{
    struct flow_record *const flows = arena_alloc(arena, count, sizeof *flows);

    for (uint32_t i = 0; flows != NULL && i < count; i++) {
        flows[i] = resolved[i];
        flows[i].counted =
            (uint32_t)flow_is_counted(request->unit, target, request->flows[i]);
    }
    return flows;
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
    const struct flow_record *resolved, uint32_t count, struct arena *arena,
    struct measure_result *out, struct error *err)
{
    struct flow_target *targets = NULL;
    uint32_t *const gpus = arena_alloc(arena, (size_t)count * 3, sizeof *gpus);

    if (gpus == NULL) {
        return no_memory(err);
    }
    TRY(flow_targets(request->unit, request->flows, request->total, arena,
        &targets, &out->records_count, err));
    out->records = arena_alloc(arena, out->records_count, sizeof *out->records);
    if (out->records == NULL) {
        return no_memory(err);
    }

    const uint32_t gpus_count = flow_gpus(resolved, count, gpus);

    for (uint32_t i = 0; i < out->records_count; i++) {
        struct record *const record = &out->records[i];

        describe_target(request, &targets[i], record);
        record->gpus = gpus;
        record->gpus_count = gpus_count;
        record->flows_count = count;
        record->flows = flows_of(request, resolved, count, &targets[i], arena);
        if (record->flows == NULL) {
            return no_memory(err);
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
    return make_records(request, resolved, count, arena, out, err);
}
