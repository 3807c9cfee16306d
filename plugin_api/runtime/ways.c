/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Ways: in which direction which bytes of a flow's slices go. */
#include "cuda_session.h"

uint32_t ways_of(const struct cuda_flow *flow, struct way out_ways[WAYS])
{
    const struct flow_run *const run = flow->run;
    const uint64_t bytes = run->record.bytes;
    const int splits = run->record.operation == NVBW_OP_SPLIT;
    const uint64_t there = splits ? SPLIT_FORWARD(bytes) : bytes;

    out_ways[0] = (struct way){ run->src, run->dst, 0, there, 0 };
    out_ways[1] = (struct way){ run->dst, run->src, there, bytes - there, 1 };
    return splits ? 2 : 1;
}

int way_stands(const struct cuda_flow *flow, const struct way *way)
{
    return way->from != NULL && way->from->kind->on_host &&
           !flow->initiator->own_slices;
}

uint64_t way_from_slice(
    const struct cuda_flow *flow, const struct way *way, uint64_t copy)
{
    return way->is_back ? slices_dst_number(flow, copy)
                        : slices_src_number(flow, copy);
}

uint64_t way_from_at(
    const struct cuda_flow *flow, const struct way *way, uint64_t slice)
{
    return way->begin + (way->is_back ? slices_dst_at(flow, slice)
                                      : slices_src_at(flow, slice));
}

uint64_t way_to_at(
    const struct cuda_flow *flow, const struct way *way, uint64_t copy)
{
    return way->begin + (way->is_back ? slices_src_offset(flow, copy)
                                      : slices_dst_offset(flow, copy));
}

uint64_t way_key(
    const struct cuda_flow *flow, const struct way *way, uint64_t slice)
{
    return way->is_back ? contents_back_key(flow, slice)
                        : contents_key(flow, slice);
}
