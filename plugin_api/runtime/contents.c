/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cuda_session.h"
#include "pattern.h"

/* No pattern has many such words. */
#define POISON_WORD UINT64_C(0xa5c396e1b4d287f0)

static const uint64_t contents_limit_ns = UINT64_C(60) * 1000 * 1000 * 1000;

struct gpu *contents_owner(const struct cuda_session *cuda,
    const struct cuda_flow *flow, const struct buffer *buffer)
{
    if (!buffer->kind->on_host) {
        return &cuda->engine->gpus[buffer->place];
    }
    return buffer->device != 0 ? flow->gpu : NULL;
}

uint64_t contents_key(const struct cuda_flow *flow, uint64_t slice)
{
    return pattern_key(flow->slot + 1, slice, flow->src_epoch);
}

uint64_t contents_back_key(const struct cuda_flow *flow, uint64_t slice)
{
    return pattern_key(WORD_FLOWS + flow->slot + 1, slice, flow->src_epoch);
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
    struct fill_args args = { buffer->device + offset, bytes, key };

    if (bytes == 0) {
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
    struct poison_args args = { buffer->device + offset, bytes, POISON_WORD };

    if (bytes == 0) {
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

static int32_t fill_source(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    const struct flow_run *const run = flow->run;

    flow->src_epoch = ++cuda->engine->epoch;
    flow->rotation = 0;
    for (uint64_t slice = 0; slice < flow->slices; slice++) {
        TRY(fill_part(cuda, flow, run->src, slices_src_at(flow, slice),
            run->record.bytes, contents_key(flow, slice), err));
    }
    return NVBW_OK;
}

static int32_t poison(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    const struct flow_run *const run = flow->run;

    return poison_part(cuda, flow, run->dst, flow->shift * run->dst_step,
        slices_all(flow) * run->dst_step, err);
}

/* Each side of a SPLIT sends one part and receives the other. */
static int32_t set_split(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    const struct flow_run *const run = flow->run;
    const uint64_t forward = SPLIT_FORWARD(run->record.bytes);
    const uint64_t back = run->record.bytes - forward;

    flow->src_epoch = ++cuda->engine->epoch;
    flow->rotation = 0;
    for (uint64_t slice = 0; slice < flow->slices; slice++) {
        const uint64_t src = slices_src_at(flow, slice);
        const uint64_t dst = slices_dst_at(flow, slice);

        TRY(fill_part(cuda, flow, run->src, src, forward,
            contents_key(flow, slice), err));
        TRY(fill_part(cuda, flow, run->dst, dst + forward, back,
            contents_back_key(flow, slice), err));
        TRY(poison_part(cuda, flow, run->src, src + forward, back, err));
        TRY(poison_part(cuda, flow, run->dst, dst, forward, err));
    }
    flow->filled = 1;
    return NVBW_OK;
}

static int32_t queue_poison(struct cuda_flow *flow, const struct buffer *buffer,
    uint64_t offset, uint64_t bytes, struct error *err)
{
    struct poison_args args = { buffer->device + offset, bytes, POISON_WORD };

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

/* Sources on hosts are filled once and read in another order each time, since
 * filling them takes as long as the copies; those on GPUs are new each time. */
static int32_t set_flow(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    const struct flow_run *const run = flow->run;
    const uint32_t was_filled = flow->filled;

    if (flow->initiator->lay != NULL) {
        return NVBW_OK;
    }
    if (was_filled && flow->background) {
        return NVBW_OK;
    }
    if (run->record.operation == NVBW_OP_SPLIT) {
        return set_split(cuda, flow, err);
    }
    if (run->src == NULL) {
        flow->src_epoch = ++cuda->engine->epoch;
    } else if (was_filled && run->src->kind->on_host &&
               !flow->initiator->own_slices) {
        flow->rotation = (flow->rotation + 1) % flow->slices;
    } else {
        TRY(fill_source(cuda, flow, err));
    }
    flow->filled = 1;
    return run->dst != NULL ? poison(cuda, flow, err) : NVBW_OK;
}

static int32_t wait_for(const struct cuda_session *cuda,
    const struct cuda_flow *flow, const struct buffer *buffer,
    struct error *err)
{
    const struct gpu *const owner =
        buffer != NULL ? contents_owner(cuda, flow, buffer) : NULL;

    return owner == NULL ? NVBW_OK
                         : gpu_wait(owner, owner->stream, contents_limit_ns,
                               "filling buffers", err);
}

int32_t contents_set(struct cuda_session *cuda, struct error *err)
{
    for (uint32_t i = 0; i < cuda->count; i++) {
        TRY(set_flow(cuda, &cuda->flows[i], err));
    }
    for (uint32_t i = 0; i < cuda->count; i++) {
        const struct flow_run *const run = cuda->flows[i].run;

        TRY(wait_for(cuda, &cuda->flows[i], run->src, err));
        TRY(wait_for(cuda, &cuda->flows[i], run->dst, err));
    }
    return NVBW_OK;
}
