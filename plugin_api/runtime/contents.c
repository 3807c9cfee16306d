/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cuda_session.h"
#include "pattern.h"
#include "peers.h"

static const uint64_t contents_limit_ns = UINT64_C(60) * 1000 * 1000 * 1000;

struct gpu *contents_owner(const struct cuda_session *cuda,
    const struct cuda_flow *flow, const struct buffer *buffer)
{
    if (buffer->replica != 0) {
        return &cuda->engine->gpus[cuda->peers->rank]; /* each has its own */
    }
    if (!buffer->kind->on_host) {
        return &cuda->engine->gpus[buffer->place];
    }
    /* Pages of managed memory go where they are touched: they shall be the
     * host's when a copy begins. */
    return buffer->device != 0 && buffer->kind->memory != NVBW_MEM_MANAGED
               ? flow->gpu
               : NULL;
}

uint64_t contents_key(const struct cuda_flow *flow, uint64_t slice)
{
    return pattern_key(flow->number + 1, slice, flow->epochs[0]);
}

uint64_t contents_back_key(const struct cuda_flow *flow, uint64_t slice)
{
    return pattern_key(WORD_FLOWS + flow->number + 1, slice, flow->epochs[1]);
}

/* Of all that stands: so it can be told by its layout alone. */
#define EPOCH_STANDS (UINT64_C(1) << 63)

uint64_t contents_tag(const struct cuda_flow *flow, uint32_t is_back)
{
    const struct flow_record *const record = &flow->run->record;
    const uint64_t size =
        pattern_key(record->bytes, record->offset, flow->background);
    const uint64_t layout = pattern_key(
        size, (uint64_t)record->operation << 32 | flow->slices, EPOCH_STANDS);

    /* Who filled it is part of it: over a bad link it may be wrong. */
    return pattern_key((uint64_t)flow->gpu->position << 32 |
                           (2 * flow->number + is_back),
               layout, EPOCH_STANDS) |
           1;
}

static unsigned char *host_at(const struct buffer *buffer, uint64_t offset)
{
    return (unsigned char *)buffer->host + offset;
}

static int32_t fill_part(const struct cuda_session *cuda,
    const struct cuda_flow *flow, const struct buffer *buffer, uint64_t offset,
    uint64_t bytes, uint64_t key, struct error *err)
{
    struct gpu *const owner = contents_owner(cuda, flow, buffer);
    struct fill_args args = { buffer_contents(buffer) + offset, bytes, key };

    if (bytes == 0 || !team_owns(cuda, owner)) {
        return NVBW_OK;
    }
    if (owner == NULL) {
        pattern_fill(host_at(buffer, offset), bytes, key);
        return NVBW_OK;
    }
    TRY(gpu_use(owner, err));
    return gpu_launch(owner, GPU_KERNEL_fill, owner->stream, &args, bytes, err);
}

static int32_t poison_part(const struct cuda_session *cuda,
    const struct cuda_flow *flow, const struct buffer *buffer, uint64_t offset,
    uint64_t bytes, struct error *err)
{
    struct gpu *const owner = contents_owner(cuda, flow, buffer);
    struct poison_args args = { buffer_contents(buffer) + offset, bytes,
        POISON_WORD };

    if (bytes == 0 || !team_owns(cuda, owner)) {
        return NVBW_OK;
    }
    if (owner == NULL) {
        pattern_fill(host_at(buffer, offset), bytes, POISON_WORD);
        return NVBW_OK;
    }
    TRY(gpu_use(owner, err));
    return gpu_launch(
        owner, GPU_KERNEL_poison, owner->stream, &args, bytes, err);
}

static int32_t fill_slice(const struct cuda_session *cuda,
    const struct cuda_flow *flow, const struct way *way, uint64_t slice,
    struct error *err)
{
    return fill_part(cuda, flow, way->from, way_from_at(flow, way, slice),
        way->bytes, way_key(flow, way, slice), err);
}

/* What stands is filled whole, unless the flow before this one left the same
 * behind. */
static int32_t fill_standing(struct cuda_session *cuda, struct cuda_flow *flow,
    const struct way *way, struct error *err)
{
    const uint64_t tag = contents_tag(flow, way->is_back);

    flow->epochs[way->is_back] = EPOCH_STANDS;
    if (way->from->content == tag) {
        return NVBW_OK;
    }
    way->from->content = 0;
    for (uint64_t slice = 0; slice < flow->slices; slice++) {
        TRY(fill_slice(cuda, flow, way, slice, err));
    }
    flow->standing = 1;
    return NVBW_OK;
}

/* Anew for each sample, as far as the sample goes. */
static int32_t fill(struct cuda_session *cuda, struct cuda_flow *flow,
    const struct way *way, struct error *err)
{
    flow->epochs[way->is_back] = ++cuda->engine->epoch;
    for (uint64_t i = 0; way->from != NULL && i < slices_used(flow); i++) {
        TRY(fill_slice(cuda, flow, way, way_from_slice(flow, way, i), err));
    }
    return NVBW_OK;
}

/* Only where what stood there before could pass for what is to come: from a
 * source that is new each time every word differs from anything older. Poison
 * for a host's memory would cross the link as the copies do. */
static int needs_poison(const struct cuda_flow *flow, const struct way *way)
{
    return way->to != NULL && way_stands(flow, way);
}

static int32_t poison(const struct cuda_session *cuda,
    const struct cuda_flow *flow, const struct way *way, struct error *err)
{
    for (uint64_t copy = 0; copy < slices_used(flow); copy++) {
        TRY(poison_part(
            cuda, flow, way->to, way_to_at(flow, way, copy), way->bytes, err));
    }
    return NVBW_OK;
}

static int32_t set_way(struct cuda_session *cuda, struct cuda_flow *flow,
    const struct way *way, struct error *err)
{
    if (!way_stands(flow, way)) {
        TRY(fill(cuda, flow, way, err));
    } else if (!flow->filled) {
        TRY(fill_standing(cuda, flow, way, err));
    }
    return needs_poison(flow, way) ? poison(cuda, flow, way, err) : NVBW_OK;
}

static int32_t queue_poison(struct cuda_flow *flow, const struct buffer *buffer,
    uint64_t offset, uint64_t bytes, struct error *err)
{
    struct poison_args args = { buffer_contents(buffer) + offset, bytes,
        POISON_WORD };

    if (buffer->device == 0 || bytes == 0) {
        return NVBW_OK;
    }
    return gpu_launch(
        flow->gpu, GPU_KERNEL_poison, flow->stream, &args, bytes, err);
}

int32_t contents_poison_again(struct cuda_flow *flow, struct error *err)
{
    const struct flow_run *const run = flow->run;
    const uint64_t bytes = run->record.bytes;
    const uint64_t forward =
        run->record.operation == NVBW_OP_SPLIT ? SPLIT_FORWARD(bytes) : bytes;

    if (run->dst == NULL) {
        return NVBW_OK;
    }
    TRY(queue_poison(flow, run->dst, slices_dst_offset(flow, 0), forward, err));
    return forward == bytes ? NVBW_OK
                            : queue_poison(flow, run->src,
                                  slices_src_offset(flow, 0) + forward,
                                  bytes - forward, err);
}

/* What a background copies is compared once, and needs no news. */
static int32_t set_flow(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    struct way ways[WAYS];
    const uint32_t count = ways_of(flow, ways);

    if (flow->initiator->lay != NULL || (flow->filled && flow->background)) {
        return NVBW_OK;
    }
    if (flow->filled) {
        slices_turn(flow);
    }
    for (uint32_t i = 0; i < count; i++) {
        TRY(set_way(cuda, flow, &ways[i], err));
    }
    flow->filled = 1;
    return NVBW_OK;
}

static int32_t wait_for(const struct cuda_session *cuda,
    const struct cuda_flow *flow, const struct buffer *buffer,
    struct error *err)
{
    const struct gpu *const owner =
        buffer != NULL ? contents_owner(cuda, flow, buffer) : NULL;

    return owner == NULL || !team_owns(cuda, owner)
               ? NVBW_OK
               : gpu_wait(owner, owner->stream, contents_limit_ns,
                     "filling buffers", err);
}

/* What was filled is there now. */
static void tag_standing(struct cuda_flow *flow)
{
    struct way ways[WAYS];
    const uint32_t count = ways_of(flow, ways);

    for (uint32_t i = 0; flow->standing && i < count; i++) {
        if (way_stands(flow, &ways[i])) {
            ways[i].from->content = contents_tag(flow, ways[i].is_back);
        }
    }
    flow->standing = 0;
}

int32_t contents_set(struct cuda_session *cuda, struct error *err)
{
    for (uint32_t i = 0; i < cuda->all_count; i++) {
        TRY(set_flow(cuda, cuda_flow_at(cuda, i), err));
    }
    for (uint32_t i = 0; i < cuda->all_count; i++) {
        const struct flow_run *const run = cuda->flows[i].run;

        TRY(wait_for(cuda, &cuda->flows[i], run->src, err));
        TRY(wait_for(cuda, &cuda->flows[i], run->dst, err));
    }
    for (uint32_t i = 0; i < cuda->all_count; i++) {
        tag_standing(&cuda->flows[i]);
    }
    return NVBW_OK;
}
