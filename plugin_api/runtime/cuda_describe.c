/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What records say about the flows of a session on GPUs. */
#include <math.h>

#include "cuda_session.h"
#include "flow.h"
#include "host_memory.h"

/* Footprint over cache, at least; below, the figure may be the cache's. */
#define CACHE_ON_HOST   4.0
#define CACHE_ON_GPU    10.0  /* copies */
#define CACHE_ONE_SIDED 200.0 /* reads and writes of local memory */
#define CACHE_CHASED    20.0  /* chains of loads, STREAM, single accesses */
/* The same of a simulated machine, whose copies are small (copy_size.c): its
 * cache answers nothing of what it does not hold whole. */
#define CACHE_ONE_SIDED_SIMULATED 4.0

static double cache_of(
    const struct session *session, const struct flow_record *record)
{
    const struct facts *const facts = session->facts;

    if (flow_memory_on_host(record->src_memory) && record->src_place >= 0) {
        return (double)facts->nodes[record->src_place].cache_bytes;
    }
    if (flow_memory_on_host(record->dst_memory) && record->dst_place >= 0) {
        return (double)facts->nodes[record->dst_place].cache_bytes;
    }
    /* Loads from another GPU are answered by that GPU's cache. */
    const int32_t place = record->operation == NVBW_OP_CHASE &&
                                  !flow_memory_on_host(record->src_memory)
                              ? record->src_place
                              : record->executor;

    return (double)facts->gpus[place].l2_bytes;
}

static int is_with_host(const struct flow_record *record)
{
    return flow_memory_on_host(record->src_memory) ||
           flow_memory_on_host(record->dst_memory);
}

static double cache_needed(
    const struct session *session, const struct flow_record *record)
{
    if (is_with_host(record)) {
        return CACHE_ON_HOST;
    }
    if (record->operation == NVBW_OP_CHASE || flow_is_stream(record) ||
        flow_is_access(record)) {
        return CACHE_CHASED;
    }
    if (record->operation != NVBW_OP_READ &&
        record->operation != NVBW_OP_WRITE) {
        return CACHE_ON_GPU;
    }
    return session->facts->simulated ? CACHE_ONE_SIDED_SIMULATED
                                     : CACHE_ONE_SIDED;
}

/* The caches of a host see one side of a copy, those of a GPU both. */
static uint64_t seen_by_cache(const struct cuda_flow *flow)
{
    const uint64_t both = slices_footprint(flow);

    return is_with_host(&flow->run->record) &&
                   flow->run->record.operation != NVBW_OP_CHASE
               ? both / 2
               : both;
}

/* What a local copy makes its memory do beside the payload, and what all
 * arrays of an operation of STREAM do. */
static uint64_t traffic_of(const struct cuda_flow *flow)
{
    const struct flow_record *const record = &flow->run->record;
    const int is_local = flow->run->src != NULL && flow->run->dst != NULL &&
                         !flow->run->src->kind->on_host &&
                         !flow->run->dst->kind->on_host &&
                         record->src_place == record->dst_place;

    if (flow_is_stream(record)) {
        return flow_stream_arrays(record) * record->bytes * flow->copies;
    }
    return is_local ? 2 * flow_counted_bytes(record) * flow->copies : 0;
}

/* Of several flows the record has the sizes of the first, the footprint of
 * all, and the one whose cache is outrun the least. */
static void describe(const struct cuda_session *cuda,
    const struct cuda_flow *flow, struct record *record)
{
    const struct flow_record *const flow_record = &flow->run->record;
    const double cache = cache_of(cuda->session, flow_record);
    const double ratio = (double)seen_by_cache(flow) / cache;

    if (record->copies == 0 || record->footprint_bytes == 0) {
        record->copy_bytes = flow_record->bytes;
        record->copies = flow->copies;
        record->warmup =
            cuda->session->params.fixed ? cuda->session->params.warmup : 1;
    }
    if ((flow_record->flags & NVBW_FLOW_STAGED) != 0) {
        settle_flag(cuda->session->arena, record, "staged");
    }
    record->footprint_bytes += slices_footprint(flow);
    record->traffic_bytes += traffic_of(flow);
    if (cache > 0.0 && slices_footprint(flow) > 0) {
        record->footprint_over_cache =
            isnan(record->footprint_over_cache)
                ? ratio
                : fmin(record->footprint_over_cache, ratio);
        if (ratio < cache_needed(cuda->session, flow_record)) {
            settle_flag(cuda->session->arena, record, "cache_bound");
        }
    }
}

static int is_counted_in(const struct cuda_session *cuda,
    const struct cuda_flow *flow, uint32_t target)
{
    return flow->run->cell == (int32_t)target ||
           flow->run->reverse == (int32_t)target ||
           (target_totals(&cuda->session->targets[target], flow->run) &&
               !flow->background);
}

/* Each way of a split is taken to be half of both. */
static void flag_half(const struct cuda_session *cuda,
    const struct cuda_flow *flow, const struct target *target)
{
    if (flow->run->record.operation == NVBW_OP_SPLIT && !target->is_total) {
        settle_flag(cuda->session->arena, target->record, "half");
    }
}

void cuda_describe_records(const struct cuda_session *cuda)
{
    const struct session *const session = cuda->session;

    for (uint32_t i = 0; i < session->targets_count; i++) {
        struct record *const record = session->targets[i].record;

        for (uint32_t f = 0; f < cuda->all_count; f++) {
            if (is_counted_in(cuda, &cuda->flows[f], i)) {
                describe(cuda, &cuda->flows[f], record);
                flag_half(cuda, &cuda->flows[f], &session->targets[i]);
            }
        }
        record->placements = cuda->placements;
        if (cuda->by_host && record->clock == NULL) {
            record->clock = "host";
        }
        if (session->targets[i].is_total && cuda->coarse) {
            settle_flag(session->arena, record, "coarse");
        }
        if (record->verified == NULL && record->samples_count > 0) {
            record->verified = "off";
        }
    }
}

void cuda_describe_node(const struct cuda_session *cuda, struct flow_run *run)
{
    const struct buffer *const host =
        run->src != NULL && run->src->kind->on_host ? run->src : run->dst;
    char text[32];

    if (host == NULL || !host->kind->on_host) {
        return;
    }
    host_memory_node_text(host->node_seen, text, sizeof text);
    run->record.node_seen = arena_text(cuda->session->arena, text);
}
