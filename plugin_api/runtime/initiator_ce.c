/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Copies by cuMemcpyAsync and its kin: the driver chooses the engine. */
#include "cuda_session.h"

static const void *host_at(const struct buffer *buffer, uint64_t offset)
{
    return (const unsigned char *)buffer->host + offset;
}

static cu_result copy(const struct cuda_flow *flow, uint64_t number)
{
    const struct cuda_api *const api = flow->gpu->api;
    const struct flow_run *const run = flow->run;
    const uint64_t bytes = slices_bytes(flow, number);
    const uint64_t src = slices_src_offset(flow, number);
    const uint64_t dst = slices_dst_offset(flow, number);

    if (run->src->kind->on_host && !run->dst->kind->on_host) {
        return api->copy_down_async(run->dst->device + dst,
            host_at(run->src, src), bytes, flow->stream);
    }
    if (!run->src->kind->on_host && run->dst->kind->on_host) {
        return api->copy_up_async((unsigned char *)run->dst->host + dst,
            run->src->device + src, bytes, flow->stream);
    }
    return api->copy_async(
        run->dst->device + dst, run->src->device + src, bytes, flow->stream);
}

static int32_t enqueue(struct cuda_session *cuda, struct cuda_flow *flow,
    uint64_t first, uint64_t count, struct error *err)
{
    (void)cuda;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t number = first == COPY_WARM_UP ? first : first + i;

        CUDA_TRY(flow->gpu->api, err, copy(flow, number),
            "GPU %d: a copy of %llu bytes was not queued",
            flow->gpu->facts->index,
            (unsigned long long)slices_bytes(flow, number));
    }
    return NVBW_OK;
}

const struct initiator initiator_ce = {
    .name = "ce",
    .operations = 1u << NVBW_OP_COPY,
    .one_by_one = 1,
    .enqueue = enqueue,
};
