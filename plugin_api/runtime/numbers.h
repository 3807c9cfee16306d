/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The words of arrays of numbers: doubles of the pattern, and what operations
 * make of them (kernels/args.h, enum number_form). The same function stands in
 * kernels/numbers.cuh. Whole numbers of at most 52 bits: exact. */
#ifndef NVBW_NUMBERS_H
#define NVBW_NUMBERS_H

#include <stdint.h>
#include <string.h>

#include "args.h"
#include "pattern.h"

enum { NUMBERS_WIDE_SHIFT = 14, NUMBERS_SMALL_SHIFT = 48 };

static inline uint64_t number_bits(double value)
{
    uint64_t word;

    memcpy(&word, &value, sizeof word);
    return word;
}

static inline double number_wide(uint64_t key, uint64_t index)
{
    return (double)(pattern_word(key, index) >> NUMBERS_WIDE_SHIFT);
}

static inline uint64_t number_small(uint64_t key, uint64_t index)
{
    return pattern_word(key, index) >> NUMBERS_SMALL_SHIFT;
}

/* Word `index` of an array of this form. */
static inline uint64_t number_word(uint64_t form, uint64_t key, uint64_t index)
{
    const uint64_t third = NUMBERS_THIRD(key);

    switch (form) {
    case NUMBERS_SMALL:
        return number_bits((double)number_small(key, index));
    case NUMBERS_SCALED:
        return number_bits(NUMBERS_FACTOR * number_wide(key, index));
    case NUMBERS_ADDED:
        return number_bits(number_wide(key, index) + number_wide(third, index));
    case NUMBERS_TRIAD:
        return number_bits(number_wide(key, index) +
                           NUMBERS_FACTOR * number_wide(third, index));
    case NUMBERS_PRODUCT:
        return number_small(key, index) * number_small(third, index);
    default:
        return number_bits(number_wide(key, index));
    }
}

#endif
