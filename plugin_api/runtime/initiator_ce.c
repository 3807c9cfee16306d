/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Copies by cuMemcpyAsync and its kin: the driver chooses the engine. With
 * NVBW_FLOW_SYNC by those that block, and with a ring piece by piece through
 * page-locked memory (copy_ring.c). */
#include "copy_ring.h"
#include "cuda_session.h"

static unsigned char *host_at(const struct buffer *buffer, uint64_t offset)
{
    return (unsigned char *)buffer->host + offset;
}

/* blocks: by the calls that return once the bytes are there. */
static cu_result copy(const struct cuda_flow *flow, uint64_t number, int blocks)
{
    const struct cuda_api *const api = flow->gpu->api;
    const struct flow_run *const run = flow->run;
    const uint64_t bytes = slices_bytes(flow, number);
    const uint64_t src = slices_src_offset(flow, number);
    const uint64_t dst = slices_dst_offset(flow, number);
    const cu_address from = run->src->device + src;
    const cu_address to = run->dst->device + dst;

    if (run->src->kind->on_host && !run->dst->kind->on_host) {
        const void *const host = host_at(run->src, src);

        return blocks ? api->copy_down(to, host, bytes)
                      : api->copy_down_async(to, host, bytes, flow->stream);
    }
    if (!run->src->kind->on_host && run->dst->kind->on_host) {
        void *const host = host_at(run->dst, dst);

        return blocks ? api->copy_up(host, from, bytes)
                      : api->copy_up_async(host, from, bytes, flow->stream);
    }
    return blocks ? api->copy(to, from, bytes)
                  : api->copy_async(to, from, bytes, flow->stream);
}

static int32_t enqueue(struct cuda_session *cuda, struct cuda_flow *flow,
    uint64_t first, uint64_t count, struct error *err)
{
    const struct flow_record *const record = &flow->run->record;
    const int blocks = (record->flags & NVBW_FLOW_SYNC) != 0;

    (void)cuda;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t number = first == COPY_WARM_UP ? first : first + i;

        if (record->ring != 0) {
            TRY(copy_ring_pass(flow, number, err));
            continue;
        }
        CUDA_TRY(flow->gpu->api, err, copy(flow, number, blocks),
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
    .open = copy_ring_open,
    .enqueue = enqueue,
    .close = copy_ring_close,
};
