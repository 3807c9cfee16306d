/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "copy_size.h"

#include "flow.h"

/* Every copy costs some microseconds beside its bytes: about 2 us to or from
 * the host, 3.6 us within a GPU, 4.5 us between GPUs. These sizes keep that
 * below two parts in a thousand. */
#define SIZE_SLOW (UINT64_C(128) << 20)
#define SIZE_C2C  (UINT64_C(512) << 20)
#define SIZE_FAST (UINT64_C(1) << 30)

enum {
    MEMORY_SHARE = 24, /* of a GPU's memory that one copy may be at most */
    SIZE_STEP = 1 << 20
};

static int on_gpu(uint32_t memory)
{
    return memory != NVBW_MEM_NONE && !flow_memory_on_host(memory);
}

static uint64_t between_gpus(
    const struct facts *facts, const struct flow_record *flow)
{
    if (!on_gpu(flow->src_memory) || !on_gpu(flow->dst_memory) ||
        flow->src_place < 0 || flow->dst_place < 0 ||
        flow->src_place == flow->dst_place) {
        return SIZE_FAST;
    }

    const struct pair_facts *const pair =
        facts_pair(facts, (uint32_t)flow->src_place, (uint32_t)flow->dst_place);

    return pair != NULL && pair->nvlinks > 0 ? SIZE_FAST : SIZE_SLOW;
}

static uint64_t of_path(
    const struct facts *facts, const struct flow_record *flow)
{
    if (flow_memory_on_host(flow->src_memory) ||
        flow_memory_on_host(flow->dst_memory)) {
        return facts->gpus[flow->executor].coherent_link == 1 ? SIZE_C2C
                                                              : SIZE_SLOW;
    }
    return between_gpus(facts, flow);
}

uint64_t copy_size(const struct facts *facts, const struct flow_record *flow,
    const struct measure_params *params)
{
    if (params->fixed || params->buffer_bytes != COPY_SIZE_DEFAULT ||
        flow->initiator == NVBW_BY_CPU) {
        return flow->bytes;
    }

    const uint64_t wanted = of_path(facts, flow);
    const uint64_t share =
        facts->gpus[flow->executor].memory_bytes / MEMORY_SHARE;
    const uint64_t most = share < SIZE_STEP ? SIZE_STEP : share;

    return wanted <= most ? wanted : most / SIZE_STEP * SIZE_STEP;
}
