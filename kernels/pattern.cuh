/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The same function as pattern_word in plugin_api/runtime/pattern.h. */
#ifndef NVBW_PATTERN_CUH
#define NVBW_PATTERN_CUH

#include <stdint.h>

static __device__ __forceinline__ uint64_t pattern_word(
    uint64_t key, uint64_t index)
{
    uint64_t x = key + index * 0x9e3779b97f4a7c15ull;

    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ull;
    return x ^ (x >> 32);
}

#endif
