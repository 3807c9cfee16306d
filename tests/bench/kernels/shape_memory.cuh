/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Shapes of reads, writes and copies within a GPU's memory. */
#ifndef SHAPE_MEMORY_CUH
#define SHAPE_MEMORY_CUH

#include "bulk.cuh"
#include "copy.cuh"
#include "read.cuh"
#include "shape_bench.cuh"
#include "write.cuh"

/* A block's turn is THREADS * VECTORS consecutive vectors. */
template <uint32_t THREADS, uint32_t VECTORS, int HINT>
static __global__ void __launch_bounds__(THREADS)
    shape_read(uint64_t src, uint64_t count, uint64_t sums)
{
    const uint64_t tile = THREADS * VECTORS;
    uint64_t sum = 0;

#pragma unroll 1
    for (uint64_t i = blockIdx.x * tile + threadIdx.x; i < count;
         i += gridDim.x * tile) {
        vector values[VECTORS];

#pragma unroll
        for (uint32_t j = 0; j < VECTORS; j++) {
            values[j] = shape_load<HINT>(src + (i + j * THREADS) * SM_VECTOR);
        }
#pragma unroll
        for (uint32_t j = 0; j < VECTORS; j++) {
            sum += values[j].x + values[j].y;
        }
    }
    sum = sum_of_warp(sum);
    if (threadIdx.x % 32 == 0) {
        atomicAdd((unsigned long long *)(sums + blockIdx.x % 1024 * 64), sum);
    }
}

/* Nothing but stores: what the arithmetic of the pattern costs. */
template <uint32_t THREADS, uint32_t VECTORS, int HINT>
static __global__ void __launch_bounds__(THREADS)
    shape_write(uint64_t dst, uint64_t count, uint64_t key)
{
    const uint64_t tile = THREADS * VECTORS;

#pragma unroll 1
    for (uint64_t i = blockIdx.x * tile + threadIdx.x; i < count;
         i += gridDim.x * tile) {
#pragma unroll
        for (uint32_t j = 0; j < VECTORS; j++) {
            const uint64_t at = i + j * THREADS;

            shape_store<HINT>(
                dst + at * SM_VECTOR, make_ulonglong2(pattern_word(key, 2 * at),
                                          pattern_word(key, 2 * at + 1)));
        }
    }
}

/* Blocks of a group take its tiles in steps of STEP, 1: in order. */
template <uint32_t THREADS, uint32_t VECTORS, int LOAD, int STORE,
    uint32_t GROUP, uint32_t STEP>
static __global__ void __launch_bounds__(THREADS)
    shape_copy(uint64_t dst, uint64_t src, uint64_t count)
{
    const uint64_t tile = THREADS * VECTORS;
    const uint64_t first =
        blockIdx.x / GROUP * GROUP + blockIdx.x * STEP % GROUP;

#pragma unroll 1
    for (uint64_t i = first * tile + threadIdx.x; i < count;
         i += gridDim.x * tile) {
        vector values[VECTORS];

#pragma unroll
        for (uint32_t j = 0; j < VECTORS; j++) {
            values[j] = shape_load<LOAD>(src + (i + j * THREADS) * SM_VECTOR);
        }
#pragma unroll
        for (uint32_t j = 0; j < VECTORS; j++) {
            shape_store<STORE>(dst + (i + j * THREADS) * SM_VECTOR, values[j]);
        }
    }
}

/* IN_A_ROW 0: also a grid that covers everything takes every gridDim.x-th
 * tile. */
template <uint32_t TILE, uint32_t STAGES, int IN_A_ROW, uint32_t THREADS>
static __global__ void __launch_bounds__(THREADS)
    shape_bulk(uint64_t dst, uint64_t src, uint64_t bytes)
{
    extern __shared__ __align__(128) unsigned char room[];
    __shared__ __align__(8) uint64_t barriers[STAGES];

    if (threadIdx.x == 0) {
        const struct bulk_part strided = { dst, src, bytes, blockIdx.x,
            gridDim.x, (bytes + TILE - 1) / TILE };

        bulk_copy<TILE, STAGES>(
            IN_A_ROW ? bulk_share<TILE, STAGES>(dst, src, bytes) : strided,
            bulk_address(room), bulk_address(barriers));
    }
}

/* per_unit 0: as many blocks as cover everything in one turn. */
static inline uint64_t shape_blocks(const struct shape_gpu &gpu, uint64_t count,
    uint64_t tile, uint64_t per_unit)
{
    return per_unit == 0 ? (count + tile - 1) / tile
                         : per_unit * (uint64_t)gpu.units;
}

template <uint32_t THREADS, uint32_t VECTORS, int HINT>
static void try_read(const struct shape_gpu &gpu, const void *src,
    uint64_t bytes, uint64_t per_unit)
{
    const uint64_t count = bytes / SM_VECTOR;
    const uint64_t blocks =
        shape_blocks(gpu, count, THREADS * VECTORS, per_unit);
    const auto body = [&] {
        shape_read<THREADS, VECTORS, HINT><<<(unsigned)blocks, THREADS>>>(
            shape_at(src), count, shape_sums(gpu));
    };
    const bool whole = shape_is_read(gpu, bytes, body);
    char name[64];

    snprintf(name, sizeof name, "%u threads x %u, %s", THREADS, VECTORS,
        shape_hints[HINT]);
    shape_row("read", name, blocks, bytes, shape_seconds(body), whole);
}

template <uint32_t THREADS, uint32_t VECTORS, int HINT>
static void try_write(
    const struct shape_gpu &gpu, void *dst, uint64_t bytes, uint64_t per_unit)
{
    const uint64_t count = bytes / SM_VECTOR;
    const uint64_t blocks =
        shape_blocks(gpu, count, THREADS * VECTORS, per_unit);
    char name[64];

    OK(cudaMemset(dst, 0x5a, bytes));
    const double seconds = shape_seconds([&] {
        shape_write<THREADS, VECTORS, HINT>
            <<<(unsigned)blocks, THREADS>>>(shape_at(dst), count, SHAPE_KEY);
    });

    snprintf(name, sizeof name, "%u threads x %u, %s", THREADS, VECTORS,
        shape_hints[HINT]);
    shape_row(
        "write", name, blocks, bytes, seconds, shape_is_whole(gpu, dst, bytes));
}

template <uint32_t THREADS, uint32_t VECTORS, int LOAD, int STORE,
    uint32_t GROUP = 1, uint32_t STEP = 1>
static void try_copy(const struct shape_gpu &gpu, const char *path, void *dst,
    const void *src, uint64_t bytes, uint64_t blocks)
{
    const uint64_t count = bytes / SM_VECTOR;
    const uint64_t grid =
        blocks != 0 ? blocks : shape_blocks(gpu, count, THREADS * VECTORS, 0);
    char name[64];

    OK(cudaMemset(dst, 0x5a, bytes));
    shape_forget(gpu);
    const double seconds = shape_seconds([&] {
        shape_copy<THREADS, VECTORS, LOAD, STORE, GROUP, STEP>
            <<<(unsigned)grid, THREADS>>>(shape_at(dst), shape_at(src), count);
    });

    snprintf(name, sizeof name, "%u threads x %u, %s, %s, %u by %u", THREADS,
        VECTORS, shape_hints[LOAD], shape_hints[STORE], GROUP, STEP);
    shape_row(
        path, name, grid, bytes, seconds, shape_is_whole(gpu, dst, bytes));
}

template <uint32_t TILE, uint32_t STAGES, int IN_A_ROW = 1,
    uint32_t THREADS = 32>
static void try_bulk(const struct shape_gpu &gpu, const char *path, void *dst,
    const void *src, uint64_t bytes, uint64_t blocks)
{
    const uint64_t grid =
        blocks != 0 ? blocks : (bytes + TILE * STAGES - 1) / (TILE * STAGES);
    char name[64];

    OK(cudaFuncSetAttribute(shape_bulk<TILE, STAGES, IN_A_ROW, THREADS>,
        cudaFuncAttributeMaxDynamicSharedMemorySize, TILE * STAGES));
    OK(cudaMemset(dst, 0x5a, bytes));
    const double seconds = shape_seconds([&] {
        shape_bulk<TILE, STAGES, IN_A_ROW, THREADS>
            <<<(unsigned)grid, THREADS, TILE * STAGES>>>(
                shape_at(dst), shape_at(src), bytes);
    });

    snprintf(name, sizeof name, "bulk, %u of %u%s, %u threads", STAGES, TILE,
        IN_A_ROW ? "" : ", strided", THREADS);
    shape_row(
        path, name, grid, bytes, seconds, shape_is_whole(gpu, dst, bytes));
}

#endif
