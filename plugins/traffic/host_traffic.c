/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "host_traffic.h"

uint32_t host_traffic_most(const struct host_traffic *traffic, uint32_t gpus)
{
    const uint32_t ways = traffic->both_ways ? 2 : 1;

    return traffic->all_gpus ? ways * gpus : ways;
}

static struct nvbw_flow make_flow(
    const struct host_mover *mover, uint32_t gpu, uint32_t to_gpu)
{
    struct nvbw_flow flow = { .size = sizeof flow,
        .initiator = mover->initiator,
        .operation = NVBW_OP_COPY,
        .src_memory = to_gpu ? mover->memory : NVBW_MEM_DEVICE,
        .dst_memory = to_gpu ? NVBW_MEM_DEVICE : mover->memory,
        .src_place = to_gpu ? NVBW_NEAR : (int32_t)gpu,
        .dst_place = to_gpu ? (int32_t)gpu : NVBW_NEAR,
        .executor = (int32_t)gpu };

    return flow;
}

static void add_background(struct nvbw_flow *flows, uint32_t *count,
    const struct host_mover *mover, uint32_t gpu, uint32_t to_gpu)
{
    flows[*count] = make_flow(mover, gpu, to_gpu);
    flows[*count].flags = NVBW_FLOW_BACKGROUND;
    *count += 1;
}

uint32_t host_traffic_flows(const struct host_traffic *traffic,
    const struct host_mover *mover, uint32_t gpus, uint32_t gpu,
    const struct nvbw_cell *cell, struct nvbw_flow *out_flows)
{
    uint32_t count = 1;

    out_flows[0] = make_flow(mover, gpu, traffic->to_gpu);
    out_flows[0].cell = cell;
    if (traffic->both_ways) {
        add_background(out_flows, &count, mover, gpu, !traffic->to_gpu);
    }
    for (uint32_t other = 0; traffic->all_gpus && other < gpus; other++) {
        if (other == gpu) {
            continue;
        }
        add_background(out_flows, &count, mover, other, traffic->to_gpu);
        if (traffic->both_ways) {
            add_background(out_flows, &count, mover, other, !traffic->to_gpu);
        }
    }
    return count;
}
