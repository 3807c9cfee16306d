/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Copies by the bulk-copy engine (TMA) of each multiprocessor: from memory to
 * shared memory and back out, without a register. One thread a block keeps a
 * ring of tiles going. Compute capability 9.0 and up. */
#ifndef NVBW_BULK_CUH
#define NVBW_BULK_CUH

#include <stdint.h>

/* Bytes that arrive are counted by a barrier, one for each place of the
 * ring. */
static __device__ __forceinline__ uint32_t bulk_address(const void *shared)
{
    return (uint32_t)__cvta_generic_to_shared(shared);
}

static __device__ __forceinline__ void bulk_barrier(uint32_t barrier)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier)
                 : "memory");
}

/* Barriers are initialised by the thread and used by the engine. */
static __device__ __forceinline__ void bulk_fence(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

static __device__ __forceinline__ void bulk_load(
    uint32_t shared, uint64_t src, uint32_t bytes, uint32_t barrier)
{
    uint64_t from;

    asm volatile("cvta.to.global.u64 %0, %1;" : "=l"(from) : "l"(src));
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
        "r"(bytes)
        : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
        " [%0], [%1], %2, [%3];" ::"r"(shared),
        "l"(from), "r"(bytes), "r"(barrier)
        : "memory");
}

/* Waits for the end of the barrier's phase of this parity. */
static __device__ __forceinline__ void bulk_arrived(
    uint32_t barrier, uint32_t parity)
{
    uint32_t done;

    do {
        asm volatile("{\n"
                     ".reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n"
                     "}\n"
                     : "=r"(done)
                     : "r"(barrier), "r"(parity)
                     : "memory");
    } while (!done);
}

static __device__ __forceinline__ void bulk_store(
    uint64_t dst, uint32_t shared, uint32_t bytes)
{
    uint64_t to;

    asm volatile("cvta.to.global.u64 %0, %1;" : "=l"(to) : "l"(dst));
    asm volatile(
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
        "r"(shared), "r"(bytes)
        : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Waits until all stores but the newest LEFT have read shared memory. */
template <int LEFT> static __device__ __forceinline__ void bulk_stored(void)
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(LEFT) : "memory");
}

/* A copy in tiles, the last of which may be short; bytes and both addresses
 * are multiples of 16. Of it the tiles first, first + step, ... below end. */
struct bulk_part {
    uint64_t dst, src, bytes;
    uint64_t first, step, end;
};

template <uint32_t TILE>
static __device__ __forceinline__ uint64_t bulk_from(
    const struct bulk_part &part, uint64_t tile)
{
    return part.src + tile * TILE;
}

template <uint32_t TILE>
static __device__ __forceinline__ uint64_t bulk_to(
    const struct bulk_part &part, uint64_t tile)
{
    return part.dst + tile * TILE;
}

template <uint32_t TILE>
static __device__ __forceinline__ uint32_t bulk_size(
    const struct bulk_part &part, uint64_t tile)
{
    const uint64_t left = part.bytes - tile * TILE;

    return left < TILE ? (uint32_t)left : TILE;
}

/* By one thread of the block, with TILE * STAGES bytes of shared memory and
 * STAGES barriers. PART tells where tiles are, as above. */
template <uint32_t TILE, uint32_t STAGES, class PART>
static __device__ __forceinline__ void bulk_copy(
    const PART &part, uint32_t room, uint32_t barriers)
{
    uint64_t load = part.first;
    uint32_t stage = 0;
    uint32_t parity = 0;

#pragma unroll
    for (uint32_t i = 0; i < STAGES; i++) {
        bulk_barrier(barriers + 8 * i);
    }
    bulk_fence();
#pragma unroll
    for (uint32_t i = 0; i < STAGES; i++, load += part.step) {
        if (load < part.end) {
            bulk_load(room + TILE * i, bulk_from<TILE>(part, load),
                bulk_size<TILE>(part, load), barriers + 8 * i);
        }
    }
#pragma unroll 1
    for (uint64_t tile = part.first; tile < part.end; tile += part.step) {
        bulk_arrived(barriers + 8 * stage, parity);
        bulk_store(bulk_to<TILE>(part, tile), room + TILE * stage,
            bulk_size<TILE>(part, tile));
        /* The place before this one is refilled as soon as its store has read
         * it, while this one's is under way. */
        if ((tile != part.first || STAGES == 1) && load < part.end) {
            const uint32_t before = stage == 0 ? STAGES - 1 : stage - 1;

            bulk_stored<STAGES == 1 ? 0 : 1>();
            bulk_load(room + TILE * before, bulk_from<TILE>(part, load),
                bulk_size<TILE>(part, load), barriers + 8 * before);
            load += part.step;
        }
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        parity ^= stage == 0;
    }
    bulk_stored<0>();
}

/* The tiles of this block: a few in a row where the grid covers everything,
 * else every gridDim.x-th. */
template <uint32_t TILE, uint32_t STAGES>
static __device__ __forceinline__ struct bulk_part bulk_share(
    uint64_t dst, uint64_t src, uint64_t bytes)
{
    const uint64_t tiles = (bytes + TILE - 1) / TILE;
    struct bulk_part part = { dst, src, bytes, blockIdx.x, gridDim.x, tiles };

    if ((uint64_t)gridDim.x * STAGES >= tiles) {
        part.first = (uint64_t)blockIdx.x * STAGES;
        part.step = 1;
        part.end = min(part.first + STAGES, tiles);
    }
    return part;
}

#endif
