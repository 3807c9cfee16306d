/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The operations of STREAM on arrays of doubles, two of them a thread and turn.
 * Loads and stores are plain ones, which every cache may answer: arrays that
 * fit one are to show it. */
#ifndef NVBW_STREAM_CUH
#define NVBW_STREAM_CUH

#include "args.h"
#include "read.cuh"
#include "vectors.cuh"

enum stream_operation {
    STREAM_COPY,
    STREAM_SCALE,
    STREAM_ADD,
    STREAM_TRIAD,
    STREAM_DOT
};
/* Vectors of a thread and turn: what only reads has to have more under way. */
enum { STREAM_WIDTH = 1, DOT_WIDTH = 2 };

/* By these instructions, each time: so no lap is taken to be like the last. */
static __device__ __forceinline__ double2 numbers_load(uint64_t address)
{
    double2 value;

    asm volatile("ld.global.v2.f64 {%0, %1}, [%2];"
                 : "=d"(value.x), "=d"(value.y)
                 : "l"(address));
    return value;
}

static __device__ __forceinline__ void numbers_store(
    uint64_t address, double2 value)
{
    asm volatile("st.global.v2.f64 [%0], {%1, %2};"
                 :
                 : "l"(address), "d"(value.x), "d"(value.y)
                 : "memory");
}

template <stream_operation OPERATION>
static __device__ __forceinline__ double stream_one(double b, double c)
{
    switch (OPERATION) {
    case STREAM_SCALE:
        return NUMBERS_FACTOR * b;
    case STREAM_ADD:
        return b + c;
    case STREAM_TRIAD:
        return b + NUMBERS_FACTOR * c;
    case STREAM_DOT:
        return b * c;
    default:
        return b;
    }
}

template <stream_operation OPERATION>
static __device__ __forceinline__ double2 stream_vector(
    const struct stream_args &a, uint64_t at)
{
    const double2 b = numbers_load(a.src + at);
    double2 c = { 0.0, 0.0 };

    if (OPERATION >= STREAM_ADD) {
        c = numbers_load(a.third + at);
    }
    return { stream_one<OPERATION>(b.x, c.x), stream_one<OPERATION>(b.y, c.y) };
}

template <stream_operation OPERATION>
static __device__ __forceinline__ void stream_lap(const struct stream_args &a)
{
    const uint64_t vectors = a.bytes / SM_VECTOR;

#pragma unroll 1
    for (uint64_t i = (uint64_t)blockIdx.x * SM_THREADS + threadIdx.x;
         i < vectors; i += (uint64_t)gridDim.x * SM_THREADS) {
        numbers_store(
            a.dst + i * SM_VECTOR, stream_vector<OPERATION>(a, i * SM_VECTOR));
    }
}

template <stream_operation OPERATION>
static __device__ __forceinline__ void stream_laps(const struct stream_args &a)
{
    stamp_start(a.stamps);
#pragma unroll 1
    for (uint64_t lap = 0; lap < a.laps; lap++) {
        stream_lap<OPERATION>(a);
    }
    stamp_end(a.stamps);
}

#define STREAM_KERNEL(name, operation)                                         \
    extern "C" __global__ void SM_FULL nvbw_stream_##name(                     \
        const struct stream_args a)                                            \
    {                                                                          \
        stream_laps<operation>(a);                                             \
    }
STREAM_KERNEL(copy, STREAM_COPY)
STREAM_KERNEL(scale, STREAM_SCALE)
STREAM_KERNEL(add, STREAM_ADD)
STREAM_KERNEL(triad, STREAM_TRIAD)

/* The products of one lap that are a thread's. Where a tile is whole all its
 * loads are under way before the first product. */
static __device__ __forceinline__ double dot_lap(const struct stream_args &a)
{
    const uint64_t vectors = a.bytes / SM_VECTOR;
    const uint64_t tile = (uint64_t)DOT_WIDTH * SM_THREADS;
    double sum = 0.0;

#pragma unroll 1
    for (uint64_t first = blockIdx.x * tile; first < vectors;
         first += gridDim.x * tile) {
        double2 products[DOT_WIDTH];

#pragma unroll
        for (uint32_t j = 0; j < DOT_WIDTH; j++) {
            const uint64_t i = first + j * SM_THREADS + threadIdx.x;

            products[j] = i < vectors
                              ? stream_vector<STREAM_DOT>(a, i * SM_VECTOR)
                              : make_double2(0.0, 0.0);
        }
#pragma unroll
        for (uint32_t j = 0; j < DOT_WIDTH; j++) {
            sum += products[j].x + products[j].y;
        }
    }
    return sum;
}

extern "C" __global__ void SM_FULL nvbw_stream_dot(const struct stream_args a)
{
    uint64_t sum = 0;

    stamp_start(a.stamps);
#pragma unroll 1
    for (uint64_t lap = 0; lap < a.laps; lap++) {
        sum += (uint64_t)dot_lap(a);
    }
    add_of_warp(sum, a.sums + blockIdx.x % SUM_SLOTS * SUM_STEP);
    stamp_end(a.stamps);
}

#endif
