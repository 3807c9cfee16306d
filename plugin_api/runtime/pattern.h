/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The contents of buffers: a hash of (buffer, slice, word, epoch), so that a
 * skipped, stale or misplaced byte shows and nothing can compress it. The same
 * function stands in kernels/pattern.cuh for the GPU, where it has to keep up
 * with the memory: one multiplication a word beside that of the index. */
#ifndef NVBW_PATTERN_H
#define NVBW_PATTERN_H

#include <stdint.h>

/* Which contents: `key` mixes buffer, slice and epoch. */
uint64_t pattern_key(uint64_t buffer, uint64_t slice, uint64_t epoch);
/* The 64-bit word at this index of a slice: no two of one key are alike. */
static inline uint64_t pattern_word(uint64_t key, uint64_t index)
{
    uint64_t x = key + index * UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ (x >> 32);
}

/* The key under which the words from `index` on are words 0, 1, ...: how
 * threads fill and compare their shares. */
static inline uint64_t pattern_key_at(uint64_t key, uint64_t index)
{
    return key + index * UINT64_C(0x9e3779b97f4a7c15);
}

/* Fills bytes (any number, any alignment of the end) with the pattern. */
void pattern_fill(void *memory, uint64_t bytes, uint64_t key);
/* Compares; returns the number of wrong 64-bit words (a partial last one
 * included) and describes the first. */
struct pattern_fault {
    uint64_t offset, expected, actual;
};
uint64_t pattern_compare(const void *memory, uint64_t bytes, uint64_t key,
    struct pattern_fault *out_first);
/* The sum modulo 2^64 of all words, a partial last one padded with zeros. */
uint64_t pattern_sum(uint64_t bytes, uint64_t key);

#endif
