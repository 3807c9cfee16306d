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

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

#endif
