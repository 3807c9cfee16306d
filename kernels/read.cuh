/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Reads whose result proves that every word was read. */
#ifndef NVBW_READ_CUH
#define NVBW_READ_CUH

#include "args.h"
#include "pattern.cuh"
#include "vectors.cuh"
#include "words.cuh"

enum { READ_WIDTH = 4, READ_TILE = READ_WIDTH * SM_THREADS };

static __device__ __forceinline__ uint64_t sum_of_warp(uint64_t sum)
{
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, step);
    }
    return sum;
}

/* One addition to memory a block. */
static __device__ __forceinline__ void add_of_block(
    uint64_t sum, uint64_t address)
{
    __shared__ uint64_t warps[SM_THREADS / 32];

    sum = sum_of_warp(sum);
    if (threadIdx.x % 32 == 0) {
        warps[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (uint32_t i = 1; i < SM_THREADS / 32; i++) {
            sum += warps[i];
        }
        atomicAdd((unsigned long long *)address, (unsigned long long)sum);
    }
}

static __device__ __forceinline__ uint64_t read_vectors(
    uint64_t address, uint64_t vectors)
{
    uint64_t sum = 0;

#pragma unroll 1
    for (uint64_t i = (uint64_t)blockIdx.x * READ_TILE + threadIdx.x;
         i < vectors; i += (uint64_t)gridDim.x * READ_TILE) {
        vector values[READ_WIDTH];

#pragma unroll
        for (uint32_t j = 0; j < READ_WIDTH; j++) {
            const uint64_t at = i + j * SM_THREADS;

            values[j] = at < vectors ? vector_load(address + at * SM_VECTOR)
                                     : make_ulonglong2(0, 0);
        }
#pragma unroll
        for (uint32_t j = 0; j < READ_WIDTH; j++) {
            sum += values[j].x + values[j].y;
        }
    }
    return sum;
}

static __device__ __forceinline__ uint64_t read_words(
    uint64_t address, uint64_t bytes, uint64_t first)
{
    uint64_t sum = 0;

#pragma unroll 1
    for (uint64_t i = first + grid_index(); i < word_count(bytes);
         i += grid_size()) {
        sum += word_load(address + i * 8, word_bytes(bytes, i));
    }
    return sum;
}

extern "C" __global__ void SM_FULL nvbw_read(const struct read_args a)
{
    uint64_t sum = 0;
    uint64_t done = 0;

    stamp_start(a.stamps);
    if (a.src % 8 == 0 && a.bytes >= SM_VECTOR) {
        const uint64_t head = vector_head(a.src, a.bytes);
        const uint64_t vectors = (a.bytes - head) / SM_VECTOR;

        done = head / 8 + 2 * vectors;
        sum = read_vectors(a.src + head, vectors);
        if (head > 0 && blockIdx.x == 0 && threadIdx.x == 0) {
            sum += *(const uint64_t *)a.src;
        }
    }
    sum += read_words(a.src, a.bytes, done);
    add_of_block(sum, a.sums + blockIdx.x % SUM_SLOTS * SUM_STEP);
    stamp_end(a.stamps);
}

extern "C" __global__ void SM_FULL nvbw_pattern_sum(
    const struct pattern_sum_args a)
{
    uint64_t sum = 0;

    for (uint64_t i = grid_index(); i < word_count(a.bytes); i += grid_size()) {
        sum += word_cut(pattern_word(a.key, i), word_bytes(a.bytes, i));
    }
    add_of_block(sum, a.sum);
}

#endif
