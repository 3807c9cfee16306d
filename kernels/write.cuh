/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Writes of the pattern, which is computed and not read. A thread of the fast
 * way has to get by with less than a hundred instructions, or it is the
 * arithmetic that is measured: so what is not vectors is left to one block. */
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

/* head: the word before the first vector, 0 or 8 bytes. */
static __device__ __forceinline__ void write_vectors(
    const struct write_args &a, uint64_t head, uint64_t vectors)
{
#pragma unroll 1
    for (uint64_t i = (uint64_t)blockIdx.x * SM_THREADS + threadIdx.x;
         i < vectors; i += (uint64_t)gridDim.x * SM_THREADS) {
        const uint64_t word = head / 8 + 2 * i;

        vector_store(a.dst + head + i * SM_VECTOR,
            make_ulonglong2(
                pattern_word(a.key, word), pattern_word(a.key, word + 1)));
    }
}

/* By one block: the word before the vectors and the one or two after them. */
static __device__ __forceinline__ void write_edges(
    const struct write_args &a, uint64_t head, uint64_t vectors)
{
    const uint64_t done = head / 8 + 2 * vectors;

    if (threadIdx.x == 0 && head > 0) {
        write_word(a, 0);
    }
    if (done + threadIdx.x < word_count(a.bytes)) {
        write_word(a, done + threadIdx.x);
    }
}

static __device__ __forceinline__ void write_words(const struct write_args &a)
{
#pragma unroll 1
    for (uint64_t i = grid_index(); i < word_count(a.bytes); i += grid_size()) {
        write_word(a, i);
    }
}

extern "C" __global__ void SM_FULL nvbw_write(const struct write_args a)
{
    stamp_start(a.stamps);
    if (a.dst % 8 == 0 && a.bytes >= SM_VECTOR) {
        const uint64_t head = vector_head(a.dst, a.bytes);
        const uint64_t vectors = (a.bytes - head) / SM_VECTOR;

        write_vectors(a, head, vectors);
        if (blockIdx.x == 0) {
            write_edges(a, head, vectors);
        }
    } else {
        write_words(a);
    }
    stamp_end(a.stamps);
}

#endif
