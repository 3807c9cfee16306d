/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Memory as 64-bit words, at any alignment and with a partial last word. */
#ifndef NVBW_WORDS_CUH
#define NVBW_WORDS_CUH

#include <stdint.h>

static __device__ __forceinline__ uint64_t grid_index(void)
{
    return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ __forceinline__ uint64_t grid_size(void)
{
    return (uint64_t)gridDim.x * blockDim.x;
}

static __device__ __forceinline__ uint64_t word_count(uint64_t bytes)
{
    return (bytes + 7) / 8;
}

/* How many bytes of the word at this index there are: 8 but for the last. */
static __device__ __forceinline__ uint32_t word_bytes(
    uint64_t bytes, uint64_t index)
{
    const uint64_t left = bytes - index * 8;

    return left < 8 ? (uint32_t)left : 8;
}

/* A word cut to its first `bytes` bytes, as it stands in memory. */
static __device__ __forceinline__ uint64_t word_cut(
    uint64_t word, uint32_t bytes)
{
    return bytes == 8 ? word : word & ((1ull << (8 * bytes)) - 1);
}

static __device__ __forceinline__ void word_store(
    uint64_t address, uint64_t word, uint32_t bytes)
{
    if (bytes == 8 && address % 8 == 0) {
        *(uint64_t *)address = word;
        return;
    }
    for (uint32_t i = 0; i < bytes; i++) {
        ((unsigned char *)address)[i] = (unsigned char)(word >> (8 * i));
    }
}

static __device__ __forceinline__ uint64_t word_load(
    uint64_t address, uint32_t bytes)
{
    if (bytes == 8 && address % 8 == 0) {
        return *(const uint64_t *)address;
    }

    uint64_t word = 0;

    for (uint32_t i = 0; i < bytes; i++) {
        word |= (uint64_t)((const unsigned char *)address)[i] << (8 * i);
    }
    return word;
}

#endif
