/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What stands in buffers after a sample. */
#ifndef NVBW_VERIFY_CUH
#define NVBW_VERIFY_CUH

#include "args.h"
#include "pattern.cuh"
#include "words.cuh"

extern "C" __global__ void nvbw_compare(const struct compare_args a)
{
    const uint64_t words = word_count(a.bytes);
    unsigned long long wrong = 0;
    unsigned long long first = ~0ull;

    for (uint64_t i = grid_index(); i < words; i += grid_size()) {
        const uint32_t bytes = word_bytes(a.bytes, i);

        if (word_load(a.memory + i * 8, bytes) !=
            word_cut(pattern_word(a.key, i), bytes)) {
            first = wrong == 0 ? i * 8 : first;
            wrong++;
        }
    }
    if (wrong > 0) {
        atomicAdd((unsigned long long *)a.wrong, wrong);
        atomicMin((unsigned long long *)a.first, first);
    }
}

extern "C" __global__ void nvbw_sum(const struct sum_args a)
{
    const uint64_t words = word_count(a.bytes);
    unsigned long long sum = 0;

    for (uint64_t i = grid_index(); i < words; i += grid_size()) {
        sum += word_load(a.memory + i * 8, word_bytes(a.bytes, i));
    }
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, step);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd((unsigned long long *)a.sum, sum);
    }
}

#endif
