/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Accesses of one width, at strides and at random places. A thread has 32 bytes
 * under way whatever the width, or it would be the number of accesses under way
 * that is measured; neighbours have neighbouring accesses. */
#ifndef NVBW_ACCESS_CUH
#define NVBW_ACCESS_CUH

#include "args.h"
#include "pattern.cuh"
#include "read.cuh"
#include "vectors.cuh"
#include "words.cuh"

enum { ACCESS_BYTES = 32 };

/* The same function as in plugin_api/runtime/access_place.h. */
static __device__ __forceinline__ uint64_t access_place(
    uint64_t number, uint64_t bits)
{
    const uint64_t mask = (1ull << bits) - 1;
    const uint64_t half = (bits + 1) / 2;
    uint64_t x = number;

    x = ((x ^ (x >> half)) * 0x9e3779b97f4a7c15ull) & mask;
    x = ((x ^ (x >> half)) * 0xd6e8feb86659fd93ull) & mask;
    return x ^ (x >> half);
}

template <bool AT_RANDOM>
static __device__ __forceinline__ uint64_t access_element(
    const struct access_args &a, uint64_t number)
{
    return AT_RANDOM ? access_place(number, a.bits) : number * a.step;
}

static __device__ __forceinline__ uint64_t access_step_word(
    uint64_t key, uint64_t index)
{
    return key + index * ACCESS_STEP;
}

/* An element of what access_write writes. */
static __device__ __forceinline__ void element_make(
    uint64_t key, uint64_t element, uint32_t *out)
{
    *out = (uint32_t)(access_step_word(key, element / 2) >> (element % 2 * 32));
}

static __device__ __forceinline__ void element_make(
    uint64_t key, uint64_t element, uint64_t *out)
{
    *out = access_step_word(key, element);
}

static __device__ __forceinline__ void element_make(
    uint64_t key, uint64_t element, vector *out)
{
    *out = make_ulonglong2(access_step_word(key, 2 * element),
        access_step_word(key, 2 * element + 1));
}

/* What an element adds to a sum. */
static __device__ __forceinline__ uint64_t element_sum(uint32_t value)
{
    return value;
}

static __device__ __forceinline__ uint64_t element_sum(uint64_t value)
{
    return value;
}

static __device__ __forceinline__ uint64_t element_sum(vector value)
{
    return value.x + value.y;
}

/* The widths by types that are loaded and stored at once. */
static __device__ __forceinline__ uint64_t element_load(
    uint64_t address, uint64_t)
{
    return __ldcs((const unsigned long long *)address);
}

static __device__ __forceinline__ uint32_t element_load(
    uint64_t address, uint32_t)
{
    return __ldcs((const unsigned int *)address);
}

static __device__ __forceinline__ vector element_load(uint64_t address, vector)
{
    return vector_load(address);
}

static __device__ __forceinline__ void element_store(
    uint64_t address, uint64_t value)
{
    __stcs((unsigned long long *)address, (unsigned long long)value);
}

static __device__ __forceinline__ void element_store(
    uint64_t address, uint32_t value)
{
    __stcs((unsigned int *)address, value);
}

static __device__ __forceinline__ void element_store(
    uint64_t address, vector value)
{
    vector_store(address, value);
}

enum access_operation { ACCESS_COPY, ACCESS_READ, ACCESS_WRITE };

/* One tile: all loads before the first store. Of a whole one nothing is asked,
 * and places follow from the first by adding: with accesses of 4 bytes it would
 * be the instructions that are measured. */
template <access_operation OPERATION, typename TYPE, bool AT_RANDOM, bool WHOLE>
static __device__ __forceinline__ uint64_t access_tile(
    const struct access_args &a, uint64_t first)
{
    constexpr uint32_t width = ACCESS_BYTES / sizeof(TYPE);
    TYPE values[width];
    uint64_t elements[width];
    uint64_t sum = 0;

#pragma unroll
    for (uint32_t j = 0; j < width; j++) {
        const uint64_t number = first + j * SM_THREADS;

        elements[j] = AT_RANDOM || j == 0
                          ? access_element<AT_RANDOM>(a, number)
                          : elements[j - 1] + SM_THREADS * a.step;
        if (WHOLE || number < a.accesses) {
            if (OPERATION == ACCESS_WRITE) {
                element_make(a.key, elements[j], &values[j]);
            } else {
                values[j] =
                    element_load(a.src + elements[j] * sizeof(TYPE), TYPE());
            }
        }
    }
#pragma unroll
    for (uint32_t j = 0; j < width; j++) {
        if (WHOLE || first + j * SM_THREADS < a.accesses) {
            if (OPERATION == ACCESS_READ) {
                sum += element_sum(values[j]);
            } else {
                element_store(a.dst + elements[j] * sizeof(TYPE), values[j]);
            }
        }
    }
    return sum;
}

template <access_operation OPERATION, typename TYPE, bool AT_RANDOM>
static __device__ __forceinline__ uint64_t access_all(
    const struct access_args &a)
{
    const uint64_t tile = (uint64_t)ACCESS_BYTES / sizeof(TYPE) * SM_THREADS;
    uint64_t sum = 0;

#pragma unroll 1
    for (uint64_t i = blockIdx.x * tile; i < a.accesses;
         i += gridDim.x * tile) {
        sum += i + tile <= a.accesses
                   ? access_tile<OPERATION, TYPE, AT_RANDOM, true>(
                         a, i + threadIdx.x)
                   : access_tile<OPERATION, TYPE, AT_RANDOM, false>(
                         a, i + threadIdx.x);
    }
    return sum;
}

template <access_operation OPERATION, typename TYPE>
static __device__ __forceinline__ uint64_t access_of(
    const struct access_args &a)
{
    return a.bits > 0 ? access_all<OPERATION, TYPE, true>(a)
                      : access_all<OPERATION, TYPE, false>(a);
}

template <access_operation OPERATION>
static __device__ __forceinline__ void access_run(const struct access_args &a)
{
    uint64_t sum = 0;

    stamp_start(a.stamps);
    if (a.element == 4) {
        sum = access_of<OPERATION, uint32_t>(a);
    } else if (a.element == 8) {
        sum = access_of<OPERATION, uint64_t>(a);
    } else {
        sum = access_of<OPERATION, vector>(a);
    }
    if (OPERATION == ACCESS_READ) {
        add_of_warp(sum, a.sums + blockIdx.x % SUM_SLOTS * SUM_STEP);
    }
    stamp_end(a.stamps);
}

#define ACCESS_KERNEL(name, operation)                                         \
    extern "C" __global__ void __launch_bounds__(SM_THREADS)                   \
        nvbw_access_##name(const struct access_args a)                         \
    {                                                                          \
        access_run<operation>(a);                                              \
    }
ACCESS_KERNEL(copy, ACCESS_COPY)
ACCESS_KERNEL(read, ACCESS_READ)
ACCESS_KERNEL(write, ACCESS_WRITE)

/* ---- What comes of them -------------------------------------------------- */

/* Which bits of a word belong to elements that are accessed. */
static __device__ __forceinline__ uint64_t access_mask(
    uint64_t index, uint64_t element, uint64_t step)
{
    if (element >= 8) {
        return index / (element / 8) % step == 0 ? ~0ull : 0;
    }
    return (2 * index % step == 0 ? 0xffffffffull : 0) |
           ((2 * index + 1) % step == 0 ? 0xffffffffull << 32 : 0);
}

extern "C" __global__ void __launch_bounds__(SM_THREADS)
    nvbw_access_compare(const struct access_compare_args a)
{
    unsigned long long wrong = 0;
    unsigned long long first = ~0ull;

    for (uint64_t i = grid_index(); i < word_count(a.bytes); i += grid_size()) {
        const uint32_t bytes = word_bytes(a.bytes, i);
        const uint64_t mask = access_mask(i, a.element, a.step);
        const uint64_t word =
            a.steps != 0 ? access_step_word(a.key, i) : pattern_word(a.key, i);
        const uint64_t right = (word & mask) | (a.word & ~mask);

        if (word_load(a.memory + i * 8, bytes) != word_cut(right, bytes)) {
            first = wrong == 0 ? i * 8 : first;
            wrong++;
        }
    }
    if (wrong > 0) {
        atomicAdd((unsigned long long *)a.wrong, wrong);
        atomicMin((unsigned long long *)a.first, first);
    }
}

extern "C" __global__ void SM_FULL nvbw_access_sum(
    const struct access_sum_args a)
{
    uint64_t sum = 0;

    for (uint64_t i = grid_index(); i < word_count(a.bytes); i += grid_size()) {
        const uint64_t word =
            word_cut(pattern_word(a.key, i), word_bytes(a.bytes, i)) &
            access_mask(i, a.element, a.step);

        sum += a.element == 4 ? (word & 0xffffffffu) + (word >> 32) : word;
    }
    add_of_warp(sum, a.sum);
}

#endif
