/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What stands in arrays of numbers before and after; the same function as
 * number_word in plugin_api/runtime/numbers.h. */
#ifndef NVBW_NUMBERS_CUH
#define NVBW_NUMBERS_CUH

#include "args.h"
#include "pattern.cuh"
#include "read.cuh"
#include "words.cuh"

enum { WIDE_SHIFT = 14, SMALL_SHIFT = 48 };

static __device__ __forceinline__ double number_wide(
    uint64_t key, uint64_t index)
{
    return (double)(pattern_word(key, index) >> WIDE_SHIFT);
}

static __device__ __forceinline__ uint64_t number_small(
    uint64_t key, uint64_t index)
{
    return pattern_word(key, index) >> SMALL_SHIFT;
}

static __device__ __forceinline__ uint64_t number_bits(double value)
{
    return (uint64_t)__double_as_longlong(value);
}

static __device__ __forceinline__ uint64_t number_word(
    uint64_t form, uint64_t key, uint64_t index)
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

extern "C" __global__ void SM_FULL nvbw_numbers_fill(
    const struct numbers_fill_args a)
{
    for (uint64_t i = grid_index(); i < a.bytes / 8; i += grid_size()) {
        *(uint64_t *)(a.memory + i * 8) = number_word(a.form, a.key, i);
    }
}

extern "C" __global__ void SM_FULL nvbw_numbers_compare(
    const struct numbers_compare_args a)
{
    unsigned long long wrong = 0;
    unsigned long long first = ~0ull;

    for (uint64_t i = grid_index(); i < a.bytes / 8; i += grid_size()) {
        if (*(const uint64_t *)(a.memory + i * 8) !=
            number_word(a.form, a.key, i)) {
            first = wrong == 0 ? i * 8 : first;
            wrong++;
        }
    }
    if (wrong > 0) {
        atomicAdd((unsigned long long *)a.wrong, wrong);
        atomicMin((unsigned long long *)a.first, first);
    }
}

extern "C" __global__ void SM_FULL nvbw_numbers_sum(
    const struct numbers_sum_args a)
{
    uint64_t sum = 0;

    for (uint64_t i = grid_index(); i < a.bytes / 8; i += grid_size()) {
        sum += number_word(a.form, a.key, i);
    }
    add_of_warp(sum, a.sum);
}

#endif
