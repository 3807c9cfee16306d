/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Memory as vectors of 16 bytes that are touched once: loads and stores leave
 * the cache first, but for those that say otherwise. */
#ifndef NVBW_VECTORS_CUH
#define NVBW_VECTORS_CUH

#include <stdint.h>

#include "args.h"

/* Registers are kept so few that an SM is full of threads. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 700 || __CUDA_ARCH__ == 800 || \
    (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200)
#define SM_FULL __launch_bounds__(SM_THREADS, 2048 / SM_THREADS)
#else
#define SM_FULL __launch_bounds__(SM_THREADS, 1024 / SM_THREADS)
#endif

typedef ulonglong2 vector;

static __device__ __forceinline__ vector vector_load(uint64_t address)
{
    return __ldcs((const vector *)address);
}

/* An ordinary load. */
static __device__ __forceinline__ vector vector_load_kept(uint64_t address)
{
    return *(const vector *)address;
}

static __device__ __forceinline__ void vector_store(
    uint64_t address, const vector value)
{
    __stcs((vector *)address, value);
}

/* Bytes before the first whole vector. */
static __device__ __forceinline__ uint64_t vector_head(
    uint64_t address, uint64_t bytes)
{
    const uint64_t head = (0 - address) % SM_VECTOR;

    return head < bytes ? head : bytes;
}

/* 1: the first block of the grid or the last, which have more to do. */
static __device__ __forceinline__ int grid_ends(void)
{
    return blockIdx.x == 0 || blockIdx.x == gridDim.x - 1;
}

/* The time of the GPU, whose clock runs on while those of SMs change. */
static __device__ __forceinline__ uint64_t clock_ns(void)
{
    uint64_t now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

/* Stamps tell whether kernels of several streams ran together: all blocks of
 * a grid that fits the GPU start at once, and of one that does not the first
 * starts first. */
static __device__ __forceinline__ void stamp(uint64_t address)
{
    *(volatile uint64_t *)address = clock_ns();
}

static __device__ __forceinline__ void stamp_start(uint64_t stamps)
{
    if (blockIdx.x == 0 && threadIdx.x == 0 && stamps != 0) {
        stamp(stamps);
    }
}

static __device__ __forceinline__ void stamp_end(uint64_t stamps)
{
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0 && stamps != 0) {
        stamp(stamps + 8);
    }
}

#endif
