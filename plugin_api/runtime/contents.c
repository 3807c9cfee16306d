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

static unsigned char *host_at(const struct buffer *buffer, uint64_t offset)
{
    return (unsigned char *)buffer->host + offset;
}

static int32_t fill_slice(const struct cuda_flow *flow, struct gpu *owner,
    uint64_t slice, struct error *err)
{
    const struct flow_run *const run = flow->run;
    const uint64_t offset = slice * run->src_step + run->record.offset;
    const uint64_t key = contents_key(flow, slice);

    if (owner == NULL) {
        pattern_fill(host_at(run->src, offset), run->record.bytes, key);
        return NVBW_OK;
    }

    struct fill_args args = { run->src->device + offset, run->record.bytes,
        key };

    return gpu_launch(
        owner, GPU_KERNEL_fill, owner->stream, &args, run->record.bytes, err);
}

static int32_t fill_source(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    struct gpu *const owner = contents_owner(cuda, flow, flow->run->src);

    if (owner != NULL) {
        TRY(gpu_use(owner, err));
    }
    flow->src_epoch = ++cuda->engine->epoch;
    flow->rotation = 0;
    for (uint64_t slice = 0; slice < flow->slices; slice++) {
        TRY(fill_slice(flow, owner, slice, err));
    }
    flow->filled = 1;
    return NVBW_OK;
}

static int32_t poison(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    const struct buffer *const dst = flow->run->dst;
    const uint64_t bytes = slices_all(flow) * flow->run->dst_step;
    struct gpu *const owner = contents_owner(cuda, flow, dst);

    if (owner == NULL) {
        pattern_fill(dst->host, bytes, POISON_WORD);
        return NVBW_OK;
    }

    struct poison_args args = { dst->device, bytes, POISON_WORD };

    TRY(gpu_use(owner, err));
    return gpu_launch(
        owner, GPU_KERNEL_poison, owner->stream, &args, bytes, err);
}

/* Sources on hosts are filled once and read in another order each time, since
 * filling them takes as long as the copies; those on GPUs are new each time. */
static int32_t set_flow(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    const struct flow_run *const run = flow->run;
    const uint32_t was_filled = flow->filled;

    if (was_filled && flow->background) {
        return NVBW_OK;
    }
    if (run->src != NULL) {
        if (was_filled && run->src->kind->on_host) {
            flow->rotation = (flow->rotation + 1) % flow->slices;
        } else {
            TRY(fill_source(cuda, flow, err));
        }
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
