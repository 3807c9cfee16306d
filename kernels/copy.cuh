/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Copies by all of a block, or by half of its warps. */
#ifndef NVBW_COPY_CUH
#define NVBW_COPY_CUH

#include "args.h"
#include "vectors.cuh"
#include "words.cuh"

enum { COPY_WIDTH = 4 };
/* COPY_STEP is odd, so that each block of a group has a place of its own. */
enum { COPY_GROUP = 64, COPY_STEP = 37 };

/* One copy and the threads of this block that do it. */
struct copy_part {
    uint64_t dst, src, bytes;
    uint32_t thread, threads;
};

/* Whole vectors of a copy; none where those of source and destination do not
 * match. */
struct copy_span {
    uint64_t head, vectors;
};

static __device__ __forceinline__ struct copy_span copy_span_of(
    const struct copy_part &part)
{
    const int matches = (part.dst - part.src) % SM_VECTOR == 0;
    const uint64_t head = matches ? vector_head(part.dst, part.bytes) : 0;

    return { head, matches ? (part.bytes - head) / SM_VECTOR : 0 };
}

/* The bytes before and after the vectors: a few that one block copies, or all
 * of them, where blocks take turns. */
static __device__ __forceinline__ void copy_rest(
    const struct copy_part &part, const struct copy_span &span)
{
    const uint64_t covered = span.vectors * SM_VECTOR;

    if (blockIdx.x > 0 && covered > 0) {
        return;
    }
#pragma unroll 1
    for (uint64_t i = (uint64_t)blockIdx.x * part.threads + part.thread;
         i < part.bytes - covered; i += (uint64_t)gridDim.x * part.threads) {
        const uint64_t at = i < span.head ? i : i + covered;

        *(unsigned char *)(part.dst + at) =
            *(const unsigned char *)(part.src + at);
    }
}

/* Tiles of COPY_WIDTH vectors a thread; all loads of a tile are under way
 * before its first store. */
static __device__ __forceinline__ void copy_tiles(
    const struct copy_part &part, const struct copy_span &span)
{
    const uint64_t tile = part.threads * COPY_WIDTH;
    const uint64_t dst = part.dst + span.head;
    const uint64_t src = part.src + span.head;

#pragma unroll 1
    for (uint64_t i = blockIdx.x * tile + part.thread; i < span.vectors;
         i += gridDim.x * tile) {
        vector values[COPY_WIDTH];

#pragma unroll
        for (uint32_t j = 0; j < COPY_WIDTH; j++) {
            if (i + j * part.threads < span.vectors) {
                values[j] =
                    vector_load(src + (i + j * part.threads) * SM_VECTOR);
            }
        }
#pragma unroll
        for (uint32_t j = 0; j < COPY_WIDTH; j++) {
            if (i + j * part.threads < span.vectors) {
                vector_store(
                    dst + (i + j * part.threads) * SM_VECTOR, values[j]);
            }
        }
    }
}

static __device__ __forceinline__ void copy_wide(const struct copy_part &part)
{
    const struct copy_span span = copy_span_of(part);

    copy_tiles(part, span);
    copy_rest(part, span);
}

/* Where a block begins: blocks of a group take its tiles out of order. In
 * order, and with loads that leave the cache first, copies within a GPU are 0.5
 * to 3 % slower, depending on what ran before (docs/measurement.md). */
static __device__ __forceinline__ uint64_t copy_place(void)
{
    const uint32_t group = blockIdx.x / COPY_GROUP * COPY_GROUP;

    return group + COPY_GROUP <= gridDim.x
               ? group + blockIdx.x * COPY_STEP % COPY_GROUP
               : blockIdx.x;
}

extern "C" __global__ void SM_FULL nvbw_copy(const struct copy_args a)
{
    const struct copy_part part = { a.dst, a.src, a.bytes, threadIdx.x,
        SM_THREADS };

    const struct copy_span span = copy_span_of(part);

    stamp_start(a.stamps);
#pragma unroll 1
    for (uint64_t i = copy_place() * SM_THREADS + threadIdx.x; i < span.vectors;
         i += (uint64_t)gridDim.x * SM_THREADS) {
        vector_store(a.dst + span.head + i * SM_VECTOR,
            vector_load_kept(a.src + span.head + i * SM_VECTOR));
    }
    copy_rest(part, span);
    stamp_end(a.stamps);
}

extern "C" __global__ void SM_FULL nvbw_copy_wide(const struct copy_args a)
{
    const struct copy_part part = { a.dst, a.src, a.bytes, threadIdx.x,
        SM_THREADS };

    stamp_start(a.stamps);
    copy_wide(part);
    stamp_end(a.stamps);
}

/* The tile of a warp: COPY_WIDTH vectors a thread, all loads before the first
 * store. */
static __device__ __forceinline__ void copy_warp_tile(
    const struct copy_part &part, const struct copy_span &span, uint64_t tile)
{
    const uint64_t first = tile * (COPY_WIDTH * 32) + threadIdx.x % 32;
    const uint64_t dst = part.dst + span.head;
    const uint64_t src = part.src + span.head;
    vector values[COPY_WIDTH];

#pragma unroll
    for (uint32_t j = 0; j < COPY_WIDTH; j++) {
        if (first + j * 32 < span.vectors) {
            values[j] = vector_load(src + (first + j * 32) * SM_VECTOR);
        }
    }
#pragma unroll
    for (uint32_t j = 0; j < COPY_WIDTH; j++) {
        if (first + j * 32 < span.vectors) {
            vector_store(dst + (first + j * 32) * SM_VECTOR, values[j]);
        }
    }
}

static __device__ __forceinline__ uint64_t warp_tiles(
    const struct copy_span &span)
{
    return (span.vectors + COPY_WIDTH * 32 - 1) / (COPY_WIDTH * 32);
}

/* Warps take turns: a tile forward, a tile back, and each second warp begins
 * with back. Were a warp to go one way only, the way that is faster would take
 * the link from the other, end first, and leave it to run alone; like this
 * both ways always get on alike, and whoever waits waits for the slower. */
static __device__ __forceinline__ void split_both_ways(
    uint64_t dst, uint64_t src, uint64_t bytes)
{
    const uint64_t forward = SPLIT_FORWARD(bytes);
    const struct copy_part there = { dst, src, forward, threadIdx.x,
        SM_THREADS };
    const struct copy_part back = { src + forward, dst + forward,
        bytes - forward, threadIdx.x, SM_THREADS };
    const struct copy_span there_span = copy_span_of(there);
    const struct copy_span back_span = copy_span_of(back);
    const uint64_t warp =
        (uint64_t)blockIdx.x * (SM_THREADS / 32) + threadIdx.x / 32;
    const uint64_t warps = (uint64_t)gridDim.x * (SM_THREADS / 32);
    const uint64_t tiles = max(warp_tiles(there_span), warp_tiles(back_span));

#pragma unroll 1
    for (uint64_t turn = 0; turn / 2 * warps + warp < tiles; turn++) {
        const uint64_t tile = turn / 2 * warps + warp;

        if ((warp + turn) % 2 != 0) {
            copy_warp_tile(there, there_span, tile);
        } else {
            copy_warp_tile(back, back_span, tile);
        }
    }
    copy_rest(there, there_span);
    copy_rest(back, back_span);
}

/* No block waits for the others between copies, so only the last one has an
 * end at which a few run alone. */
extern "C" __global__ void __launch_bounds__(SM_THREADS)
    nvbw_split(const struct split_args a)
{
    stamp_start(a.stamps);
#pragma unroll 1
    for (uint64_t copy = 0; copy < a.copies; copy++) {
        split_both_ways(
            a.dst + copy * a.bytes, a.src + copy * a.bytes, a.bytes);
    }
    stamp_end(a.stamps);
}

#endif
