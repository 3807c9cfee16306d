/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What stands in buffers before a sample. */
#ifndef NVBW_FILL_CUH
#define NVBW_FILL_CUH

#include "args.h"
#include "pattern.cuh"
#include "words.cuh"

extern "C" __global__ void nvbw_fill(const struct fill_args a)
{
    const uint64_t words = word_count(a.bytes);

    for (uint64_t i = grid_index(); i < words; i += grid_size()) {
        word_store(
            a.memory + i * 8, pattern_word(a.key, i), word_bytes(a.bytes, i));
    }
}

extern "C" __global__ void nvbw_poison(const struct poison_args a)
{
    const uint64_t words = word_count(a.bytes);

    for (uint64_t i = grid_index(); i < words; i += grid_size()) {
        word_store(a.memory + i * 8, a.word, word_bytes(a.bytes, i));
    }
}

#endif
