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

/* An addition to memory a warp: waiting for the others of the block would cost
 * more. */
static __device__ __forceinline__ void add_of_warp(
    uint64_t sum, uint64_t address)
{
    sum = sum_of_warp(sum);
    if (threadIdx.x % 32 == 0) {
        atomicAdd((unsigned long long *)address, (unsigned long long)sum);
    }
}

/* One tile whose vectors are all there. */
static __device__ __forceinline__ uint64_t read_tile(uint64_t address)
{
    vector values[READ_WIDTH];
    uint64_t sum = 0;

#pragma unroll
    for (uint32_t j = 0; j < READ_WIDTH; j++) {
        values[j] = vector_load(address + (uint64_t)j * SM_THREADS * SM_VECTOR);
    }
#pragma unroll
    for (uint32_t j = 0; j < READ_WIDTH; j++) {
        sum += values[j].x + values[j].y;
    }
    return sum;
}

/* By one block, what is not in whole tiles of vectors: the vectors after the
 * last tile, the word before all vectors and those after them. */
static __device__ __forceinline__ uint64_t read_edges(const struct read_args &a)
{
    const uint64_t vectors = a.span.vectors;
    const uint64_t after = a.span.lead / 8 + 2 * vectors + threadIdx.x;
    uint64_t sum = 0;

#pragma unroll 1
    for (uint64_t i = vectors / READ_TILE * READ_TILE + threadIdx.x;
         i < vectors; i += SM_THREADS) {
        const vector value = vector_load(a.src + a.span.lead + i * SM_VECTOR);

        sum += value.x + value.y;
    }
    if (threadIdx.x == 0 && a.span.lead > 0) {
        sum += *(const uint64_t *)a.src;
    }
    if (after < word_count(a.bytes)) {
        sum += word_load(a.src + after * 8, word_bytes(a.bytes, after));
    }
    return sum;
}

static __device__ __forceinline__ uint64_t read_words(const struct read_args &a)
{
    uint64_t sum = 0;

#pragma unroll 1
    for (uint64_t i = grid_index(); i < word_count(a.bytes); i += grid_size()) {
        sum += word_load(a.src + i * 8, word_bytes(a.bytes, i));
    }
    return sum;
}

extern "C" __global__ void SM_FULL nvbw_read(const struct read_args a)
{
    const int is_rare = grid_ends() || a.span.vectors == 0;
    const uint64_t tiles = a.span.vectors / READ_TILE;
    uint64_t sum = 0;

    if (is_rare) {
        stamp_start(a.stamps);
    }
#pragma unroll 1
    for (uint64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        sum += read_tile(
            a.src + a.span.lead + (tile * READ_TILE + threadIdx.x) * SM_VECTOR);
    }
    if (is_rare && a.span.vectors == 0) {
        sum += read_words(a);
    } else if (is_rare && blockIdx.x == 0) {
        sum += read_edges(a);
    }
    add_of_warp(sum, a.sums + blockIdx.x % SUM_SLOTS * SUM_STEP);
    if (is_rare) {
        stamp_end(a.stamps);
    }
}

extern "C" __global__ void SM_FULL nvbw_pattern_sum(
    const struct pattern_sum_args a)
{
    uint64_t sum = 0;

    for (uint64_t i = grid_index(); i < word_count(a.bytes); i += grid_size()) {
        sum += word_cut(pattern_word(a.key, i), word_bytes(a.bytes, i));
    }
    add_of_warp(sum, a.sum);
}

#endif
