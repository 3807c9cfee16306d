/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "sm_shape.h"

#include "facts.h"
#include "flow.h"
#include "gpu.h"

/* A grid's first dimension. */
#define BLOCKS_MOST UINT64_C(0x7fffffff)

/* Over a link more than the link holds only queues up: a PCIe link is full
 * from 4 blocks on, an NVLink one from one block an SM on; both with some
 * spare, and alike for GPUs of any size. Both ways at once take more, since
 * what waits for the host's memory waits longer. */
enum {
    HOST_BLOCKS_PER_UNIT_INVERSE = 4,
    PEER_BLOCKS_PER_UNIT = 2,
    SPLIT_BLOCKS_PER_UNIT = 2,
    /* Of bulk copies, which have less under way. */
    TMA_BLOCKS_PER_UNIT = 16
};

/* Bytes that a block moves in one turn. */
enum {
    TILE_ONE = SM_THREADS * SM_VECTOR,
    TILE_TWO = 2 * SM_THREADS * SM_VECTOR,
    TILE_FOUR = 4 * SM_THREADS * SM_VECTOR,
    TILE_BOTH_WAYS = 2 * TILE_FOUR
};
static const uint32_t tile_bytes[SM_KERNELS_END] = {
    [SM_KERNEL_copy] = TILE_ONE,
    [SM_KERNEL_copy_wide] = TILE_FOUR,
    [SM_KERNEL_tma] = TMA_STAGES * TMA_TILE,
    [SM_KERNEL_copy_multicast] = TILE_ONE,
    [SM_KERNEL_split] = TILE_BOTH_WAYS,
    [SM_KERNEL_read] = TILE_FOUR,
    [SM_KERNEL_write] = TILE_ONE,
    [SM_KERNEL_pattern_sum] = TILE_ONE,
    [SM_KERNEL_stream_copy] = TILE_ONE,
    [SM_KERNEL_stream_scale] = TILE_ONE,
    [SM_KERNEL_stream_add] = TILE_ONE,
    [SM_KERNEL_stream_triad] = TILE_ONE,
    [SM_KERNEL_stream_dot] = TILE_TWO,
    [SM_KERNEL_numbers_fill] = TILE_FOUR,
    [SM_KERNEL_numbers_compare] = TILE_FOUR,
    [SM_KERNEL_numbers_sum] = TILE_FOUR,
    [SM_KERNEL_access_copy] = TILE_TWO,
    [SM_KERNEL_access_read] = TILE_TWO,
    [SM_KERNEL_access_write] = TILE_TWO,
    [SM_KERNEL_access_compare] = TILE_FOUR,
    [SM_KERNEL_access_sum] = TILE_FOUR,
    [SM_KERNEL_read_paced] = TILE_FOUR,
};

enum sm_path sm_path_of(
    const struct facts *facts, const struct flow_record *flow)
{
    const int on_host = flow_memory_on_host(flow->src_memory) ||
                        flow_memory_on_host(flow->dst_memory);
    const int src_peer =
        flow->src_memory != NVBW_MEM_NONE && flow->src_place != flow->executor;
    const int dst_peer =
        flow->dst_memory != NVBW_MEM_NONE && flow->dst_place != flow->executor;

    if (on_host) {
        /* As wide as a link between GPUs. */
        return facts->gpus[flow->executor].coherent_link == 1 ? SM_PEER
                                                              : SM_HOST;
    }
    return src_peer || dst_peer ? SM_PEER : SM_LOCAL;
}

uint32_t sm_kernel_of(
    uint32_t initiator, uint32_t operation, enum sm_path path, uint32_t sharing)
{
    static const uint32_t kernels[] = {
        [NVBW_OP_READ] = SM_KERNEL_read,
        [NVBW_OP_WRITE] = SM_KERNEL_write,
        [NVBW_OP_SPLIT] = SM_KERNEL_split,
    };

    if (initiator == NVBW_BY_TMA) {
        return SM_KERNEL_tma;
    }
    if (operation == NVBW_OP_COPY) {
        return path == SM_LOCAL && sharing == 1 ? SM_KERNEL_copy
                                                : SM_KERNEL_copy_wide;
    }
    return kernels[operation];
}

static uint64_t lesser(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

static uint64_t wanted_blocks(
    uint32_t kernel, enum sm_path path, uint32_t units)
{
    if (kernel == SM_KERNEL_split) {
        return (uint64_t)units * SPLIT_BLOCKS_PER_UNIT;
    }
    if (kernel == SM_KERNEL_tma && path != SM_LOCAL) {
        return (uint64_t)units * TMA_BLOCKS_PER_UNIT;
    }
    switch (path) {
    case SM_HOST:
        return (uint64_t)units / HOST_BLOCKS_PER_UNIT_INVERSE + 1;
    case SM_PEER:
        return (uint64_t)units * PEER_BLOCKS_PER_UNIT;
    case SM_LOCAL:
        break;
    }
    return BLOCKS_MOST;
}

uint64_t sm_blocks_of(uint32_t kernel, enum sm_path path, uint64_t bytes,
    uint32_t resident, uint32_t units, uint32_t sharing)
{
    const uint64_t tile = tile_bytes[kernel];
    const uint64_t tiles = bytes / tile + (bytes % tile != 0);
    const uint64_t share = (uint64_t)resident * units / sharing;
    uint64_t blocks = lesser(wanted_blocks(kernel, path, units), tiles);

    if (sharing > 1) {
        blocks = lesser(blocks, share);
    }
    return blocks > 0 ? blocks : 1;
}
