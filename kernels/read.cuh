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

/* Neighbours in time have slots of their own. */
static __device__ __forceinline__ uint64_t slot_of_warp(uint64_t sums)
{
    const uint32_t warp = blockIdx.x * (SM_THREADS / 32) + threadIdx.x / 32;

    return sums + warp % SUM_SLOTS * SUM_STEP;
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

static __device__ __forceinline__ uint64_t read_vectors(
    uint64_t address, uint64_t vectors)
{
    const uint64_t whole = vectors / READ_TILE;
    uint64_t sum = 0;

#pragma unroll 1
    for (uint64_t tile = blockIdx.x; tile < whole; tile += gridDim.x) {
        sum +=
            read_tile(address + (tile * READ_TILE + threadIdx.x) * SM_VECTOR);
    }
    return sum;
}

/* By one block: the word before the vectors, the vectors after the last whole
 * tile and the one or two words after them. */
static __device__ __forceinline__ uint64_t read_edges(
    const struct read_args &a, uint64_t head, uint64_t vectors)
{
    const uint64_t rest = vectors / READ_TILE * READ_TILE;
    const uint64_t done = head / 8 + 2 * vectors;
    uint64_t sum = 0;

#pragma unroll 1
    for (uint64_t i = rest + threadIdx.x; i < vectors; i += SM_THREADS) {
        const vector value = vector_load(a.src + head + i * SM_VECTOR);

        sum += value.x + value.y;
    }
    if (threadIdx.x == 0 && head > 0) {
        sum += *(const uint64_t *)a.src;
    }
    if (done + threadIdx.x < word_count(a.bytes)) {
        sum += word_load(a.src + (done + threadIdx.x) * 8,
            word_bytes(a.bytes, done + threadIdx.x));
    }
    return sum;
}

static __device__ __forceinline__ uint64_t read_words(
    uint64_t address, uint64_t bytes)
{
    uint64_t sum = 0;

#pragma unroll 1
    for (uint64_t i = grid_index(); i < word_count(bytes); i += grid_size()) {
        sum += word_load(address + i * 8, word_bytes(bytes, i));
    }
    return sum;
}

extern "C" __global__ void SM_FULL nvbw_read(const struct read_args a)
{
    uint64_t sum = 0;

    stamp_start(a.stamps);
    if (a.src % 8 == 0 && a.bytes >= SM_VECTOR) {
        const uint64_t head = vector_head(a.src, a.bytes);
        const uint64_t vectors = (a.bytes - head) / SM_VECTOR;

        sum = read_vectors(a.src + head, vectors);
        if (blockIdx.x == 0) {
            sum += read_edges(a, head, vectors);
        }
    } else {
        sum = read_words(a.src, a.bytes);
    }
    add_of_warp(sum, slot_of_warp(a.sums));
    stamp_end(a.stamps);
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
