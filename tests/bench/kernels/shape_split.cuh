/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Shapes of copies both ways at once: who goes which way. */
#ifndef SHAPE_SPLIT_CUH
#define SHAPE_SPLIT_CUH

#include "shape_memory.cuh"

/* BACK_OF 0: odd warps forward, even ones back. Else of so many blocks one
 * goes back. Each way has half of the bytes. */
template <uint32_t THREADS, uint32_t VECTORS, uint32_t BACK_OF, int STORE>
static __global__ void __launch_bounds__(THREADS)
    shape_split(uint64_t dst, uint64_t src, uint64_t count)
{
    const uint64_t half = count / 2;
    const bool back = BACK_OF == 0 ? threadIdx.x / 32 % 2 == 0
                                   : blockIdx.x % BACK_OF == BACK_OF - 1;
    const uint64_t threads = BACK_OF == 0 ? THREADS / 2 : THREADS;
    const uint64_t thread =
        BACK_OF == 0 ? threadIdx.x / 64 * 32 + threadIdx.x % 32 : threadIdx.x;
    const uint64_t groups = BACK_OF == 0 ? 1 : BACK_OF;
    const uint64_t backs = gridDim.x / groups;
    const uint64_t blocks =
        BACK_OF == 0 ? gridDim.x : (back ? backs : gridDim.x - backs);
    const uint64_t block =
        BACK_OF == 0
            ? blockIdx.x
            : (back ? blockIdx.x / groups : blockIdx.x - blockIdx.x / groups);
    const uint64_t from = back ? dst + half * SM_VECTOR : src;
    const uint64_t to = back ? src + half * SM_VECTOR : dst;
    const uint64_t tile = threads * VECTORS;

#pragma unroll 1
    for (uint64_t i = block * tile + thread; i < half; i += blocks * tile) {
        vector values[VECTORS];

#pragma unroll
        for (uint32_t j = 0; j < VECTORS; j++) {
            values[j] =
                shape_load<HINT_FIRST>(from + (i + j * threads) * SM_VECTOR);
        }
#pragma unroll
        for (uint32_t j = 0; j < VECTORS; j++) {
            shape_store<STORE>(to + (i + j * threads) * SM_VECTOR, values[j]);
        }
    }
}

/* Each warp goes one way and the other in turns. */
template <uint32_t THREADS, uint32_t VECTORS>
static __global__ void __launch_bounds__(THREADS)
    shape_turns(uint64_t dst, uint64_t src, uint64_t count)
{
    const uint64_t half = count / 2;
    const uint64_t warp =
        (uint64_t)blockIdx.x * (THREADS / 32) + threadIdx.x / 32;
    const uint64_t warps = (uint64_t)gridDim.x * (THREADS / 32);
    const uint64_t tile = 32 * VECTORS;

#pragma unroll 1
    for (uint64_t turn = 0; (turn / 2 * warps + warp) * tile < half; turn++) {
        const bool back = (warp + turn) % 2 == 0;
        const uint64_t at = ((turn / 2 * warps + warp) * tile +
                                threadIdx.x % 32 + (back ? half : 0)) *
                            SM_VECTOR;
        const uint64_t from = (back ? dst : src) + at;
        const uint64_t to = (back ? src : dst) + at;
        vector values[VECTORS];

#pragma unroll
        for (uint32_t j = 0; j < VECTORS; j++) {
            values[j] = shape_load<HINT_FIRST>(from + j * 32 * SM_VECTOR);
        }
#pragma unroll
        for (uint32_t j = 0; j < VECTORS; j++) {
            shape_store<HINT_FIRST>(to + j * 32 * SM_VECTOR, values[j]);
        }
    }
}

/* Bulk copies of tiles that go one way and the other in turns; bytes of a way
 * are a multiple of a tile. */
struct bulk_turns {
    uint64_t dst, src, half;
    uint64_t first, step, end;
};

template <uint32_t TILE>
static __device__ __forceinline__ uint64_t bulk_from(
    const struct bulk_turns &part, uint64_t tile)
{
    const uint64_t at = tile / 2 * TILE;

    return tile % 2 != 0 ? part.dst + part.half + at : part.src + at;
}

template <uint32_t TILE>
static __device__ __forceinline__ uint64_t bulk_to(
    const struct bulk_turns &part, uint64_t tile)
{
    const uint64_t at = tile / 2 * TILE;

    return tile % 2 != 0 ? part.src + part.half + at : part.dst + at;
}

template <uint32_t TILE>
static __device__ __forceinline__ uint32_t bulk_size(
    const struct bulk_turns &part, uint64_t tile)
{
    (void)part;
    (void)tile;
    return TILE;
}

/* An odd number of blocks, so that each gets tiles of both ways. */
template <uint32_t TILE, uint32_t STAGES>
static __global__ void __launch_bounds__(32)
    shape_bulk_turns(uint64_t dst, uint64_t src, uint64_t bytes)
{
    extern __shared__ __align__(128) unsigned char room[];
    __shared__ __align__(8) uint64_t barriers[STAGES];

    if (threadIdx.x == 0) {
        const struct bulk_turns part = { dst, src, bytes / 2, blockIdx.x,
            gridDim.x, bytes / TILE };

        bulk_copy<TILE, STAGES>(
            part, bulk_address(room), bulk_address(barriers));
    }
}

static inline void prepare_split(char *dst, char *src, uint64_t bytes)
{
    shape_fill(src, bytes);
    shape_fill(dst, bytes);
    OK(cudaMemset(dst, 0x5a, bytes / 2));
    OK(cudaMemset(src + bytes / 2, 0x5a, bytes / 2));
}

template <uint32_t THREADS, uint32_t VECTORS>
static void try_turns(const struct shape_gpu &gpu, const char *path, char *dst,
    char *src, uint64_t bytes, uint64_t blocks)
{
    char name[64];

    prepare_split(dst, src, bytes);
    const double seconds = shape_seconds([&] {
        shape_turns<THREADS, VECTORS><<<(unsigned)blocks, THREADS>>>(
            shape_at(dst), shape_at(src), bytes / SM_VECTOR);
    });

    snprintf(
        name, sizeof name, "%u threads x %u, warps in turns", THREADS, VECTORS);
    shape_row(path, name, blocks, bytes, seconds,
        shape_is_whole(gpu, dst, bytes) && shape_is_whole(gpu, src, bytes));
}

template <uint32_t TILE, uint32_t STAGES>
static void try_bulk_turns(const struct shape_gpu &gpu, const char *path,
    char *dst, char *src, uint64_t bytes, uint64_t blocks)
{
    char name[64];

    OK(cudaFuncSetAttribute(shape_bulk_turns<TILE, STAGES>,
        cudaFuncAttributeMaxDynamicSharedMemorySize, TILE * STAGES));
    prepare_split(dst, src, bytes);
    const double seconds = shape_seconds([&] {
        shape_bulk_turns<TILE, STAGES><<<(unsigned)blocks, 32, TILE * STAGES>>>(
            shape_at(dst), shape_at(src), bytes);
    });

    snprintf(name, sizeof name, "bulk, %u of %u in turns", STAGES, TILE);
    shape_row(path, name, blocks, bytes, seconds,
        shape_is_whole(gpu, dst, bytes) && shape_is_whole(gpu, src, bytes));
}

/* The bytes of both ways are printed, so half of the rate goes each way. */
template <uint32_t THREADS, uint32_t VECTORS, uint32_t BACK_OF, int STORE>
static void try_split(const struct shape_gpu &gpu, const char *path, char *dst,
    char *src, uint64_t bytes, uint64_t blocks)
{
    char name[64];

    prepare_split(dst, src, bytes);
    const double seconds = shape_seconds([&] {
        shape_split<THREADS, VECTORS, BACK_OF, STORE>
            <<<(unsigned)blocks, THREADS>>>(
                shape_at(dst), shape_at(src), bytes / SM_VECTOR);
    });

    snprintf(name, sizeof name, "%u threads x %u, %s, one of %u back", THREADS,
        VECTORS,
        BACK_OF == 0 ? "warps" : (STORE == HINT_FIRST ? "blocks" : "blocks wt"),
        BACK_OF == 0 ? 2 : BACK_OF);
    shape_row(path, name, blocks, bytes, seconds,
        shape_is_whole(gpu, dst, bytes) && shape_is_whole(gpu, src, bytes));
}

#endif
