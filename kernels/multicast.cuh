/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Stores to all GPUs of a multicast object at once. Only instructions of the
 * family multimem may touch its addresses, and those that store whole vectors
 * have them as floats: the bits arrive as they are. */
#ifndef NVBW_MULTICAST_CUH
#define NVBW_MULTICAST_CUH

#include "args.h"
#include "vectors.cuh"

enum { MULTICAST_WORD = 4 };

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
static __device__ __forceinline__ void multicast_vector(
    uint64_t address, const vector value)
{
    asm volatile("multimem.st.global.v4.f32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(address), "f"(__uint_as_float((uint32_t)value.x)),
                 "f"(__uint_as_float((uint32_t)(value.x >> 32))),
                 "f"(__uint_as_float((uint32_t)value.y)),
                 "f"(__uint_as_float((uint32_t)(value.y >> 32)))
                 : "memory");
}

static __device__ __forceinline__ void multicast_word(
    uint64_t address, uint32_t value)
{
    asm volatile("multimem.st.global.b32 [%0], %1;"
                 :
                 : "l"(address), "r"(value)
                 : "memory");
}
#else
static __device__ __forceinline__ void multicast_vector(
    uint64_t address, const vector value)
{
    (void)address;
    (void)value;
    __trap();
}

static __device__ __forceinline__ void multicast_word(
    uint64_t address, uint32_t value)
{
    (void)address;
    (void)value;
    __trap();
}
#endif

extern "C" __global__ void SM_FULL nvbw_copy_multicast(const struct copy_args a)
{
    const uint64_t vectors = a.bytes / SM_VECTOR;
    const uint64_t words =
        (a.bytes % SM_VECTOR + MULTICAST_WORD - 1) / MULTICAST_WORD;

    stamp_start(a.stamps);
#pragma unroll 1
    for (uint64_t i = (uint64_t)blockIdx.x * SM_THREADS + threadIdx.x;
         i < vectors; i += (uint64_t)gridDim.x * SM_THREADS) {
        multicast_vector(
            a.dst + i * SM_VECTOR, vector_load(a.src + i * SM_VECTOR));
    }
    if (blockIdx.x == 0 && threadIdx.x < words) {
        const uint64_t at = vectors * SM_VECTOR + threadIdx.x * MULTICAST_WORD;

        multicast_word(a.dst + at, *(const uint32_t *)(a.src + at));
    }
    stamp_end(a.stamps);
}

#endif
