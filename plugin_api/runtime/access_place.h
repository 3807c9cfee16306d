/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Accesses to single elements: which of them, and what a word of memory holds
 * then. The same functions stand in kernels/access.cuh. */
#ifndef NVBW_ACCESS_PLACE_H
#define NVBW_ACCESS_PLACE_H

#include <stdint.h>

#include "args.h"
#include "pattern.h"

/* The element of the n-th random access: takes 0 .. 2^bits - 1 to each other,
 * so every element has its access and none has two. */
static inline uint64_t access_place(uint64_t number, uint64_t bits)
{
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    const uint64_t half = (bits + 1) / 2;
    uint64_t x = number;

    x = ((x ^ (x >> half)) * UINT64_C(0x9e3779b97f4a7c15)) & mask;
    x = ((x ^ (x >> half)) * UINT64_C(0xd6e8feb86659fd93)) & mask;
    return x ^ (x >> half);
}

/* The bits of word `index` of memory that belong to elements which are
 * multiples of step. */
static inline uint64_t access_mask(
    uint64_t index, uint64_t element, uint64_t step)
{
    const uint64_t low = UINT32_MAX;

    if (element >= 8) {
        return index / (element / 8) % step == 0 ? UINT64_MAX : 0;
    }
    return (2 * index % step == 0 ? low : 0) |
           ((2 * index + 1) % step == 0 ? low << 32 : 0);
}

/* Word `index` of what copies (steps: 0) and writes (1) leave behind where
 * `word` was over and over. */
static inline uint64_t access_word(
    const struct access_compare_args *args, uint64_t index)
{
    const uint64_t mask = access_mask(index, args->element, args->step);
    const uint64_t made = args->steps != 0 ? args->key + index * ACCESS_STEP
                                           : pattern_word(args->key, index);

    return (made & mask) | (args->word & ~mask);
}

#endif
