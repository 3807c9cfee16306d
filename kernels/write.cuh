/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Writes of the pattern, which is computed and not read. A thread of the fast
 * way has to get by with well under a hundred instructions, or it is the
 * arithmetic that is measured: so what is not vectors is left to one block,
 * and what is rare to the first and the last. */
#ifndef NVBW_WRITE_CUH
#define NVBW_WRITE_CUH

#include "args.h"
#include "pattern.cuh"
#include "vectors.cuh"
#include "words.cuh"

static __device__ __forceinline__ void write_word(
    const struct write_args &a, uint64_t index)
{
    word_store(a.dst + index * 8, pattern_word(a.key, index),
        word_bytes(a.bytes, index));
}

/* Which words are not in vectors: those before them, then those after, by one
 * block; all of them, by all blocks, where there are no vectors. */
static __device__ __forceinline__ void write_rest(const struct write_args &a)
{
    const uint64_t before = a.span.lead / 8;
    const uint64_t covered = 2 * a.span.vectors;

    if (blockIdx.x > 0 && covered > 0) {
        return;
    }
#pragma unroll 1
    for (uint64_t i = grid_index(); i < word_count(a.bytes) - covered;
         i += grid_size()) {
        write_word(a, i < before ? i : i + covered);
    }
}

extern "C" __global__ void SM_FULL nvbw_write(const struct write_args a)
{
    const int is_rare = grid_ends() || a.span.vectors == 0;

    if (is_rare) {
        stamp_start(a.stamps);
    }
#pragma unroll 1
    for (uint64_t i = (uint64_t)blockIdx.x * SM_THREADS + threadIdx.x;
         i < a.span.vectors; i += (uint64_t)gridDim.x * SM_THREADS) {
        const uint64_t word = 2 * i + a.span.lead / 8;

        vector_store(a.dst + a.span.lead + i * SM_VECTOR,
            make_ulonglong2(
                pattern_word(a.key, word), pattern_word(a.key, word + 1)));
    }
    if (is_rare) {
        write_rest(a);
        stamp_end(a.stamps);
    }
}

#endif
