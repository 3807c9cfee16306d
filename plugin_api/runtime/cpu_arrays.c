/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cpu_arrays.h"

#include "cpu_store.h"

#include <string.h>

enum {
    ELEMENT_BYTES = 8,
    WIDE_SHIFT = 33, /* 31 bits: b + 3 c has at most 34 of a double's 53 */
    SMALL_SHIFT = 54 /* 10 bits: a sum of 2^33 products still fits */
};

static double number(uint64_t key, uint64_t index, int shift)
{
    return (double)(int64_t)(pattern_word(key, index) >> shift);
}

static double load(const unsigned char *from, uint64_t index)
{
    double value;

    memcpy(&value, from + index * ELEMENT_BYTES, sizeof value);
    return value;
}

static void store(unsigned char *to, uint64_t index, double value)
{
    memcpy(to + index * ELEMENT_BYTES, &value, sizeof value);
}

static store_doubles load_two(const unsigned char *from, uint64_t index)
{
    return (store_doubles)store_load(from + index * ELEMENT_BYTES);
}

static void store_two(unsigned char *to, uint64_t index, store_doubles values)
{
    store_past_cache(to + index * ELEMENT_BYTES, (store_lanes)values);
}

static void fill(void *memory, uint64_t bytes, uint64_t key, int shift)
{
    for (uint64_t i = 0; i < bytes / ELEMENT_BYTES; i++) {
        store(memory, i, number(key, i, shift));
    }
}

void arrays_fill(void *memory, uint64_t bytes, uint64_t key)
{
    fill(memory, bytes, key, WIDE_SHIFT);
}

void arrays_fill_small(void *memory, uint64_t bytes, uint64_t key)
{
    fill(memory, bytes, key, SMALL_SHIFT);
}

/* Elements up to which eight at a time, one line, go past the caches. */
static uint64_t whole_lines(const struct cpu_share *share)
{
    return store_is_aligned(share->dst)
               ? share->bytes / CPU_LINE_BYTES * (CPU_LINE_BYTES / 8)
               : 0;
}

uint64_t arrays_run_triad(const struct cpu_share *share)
{
    const store_doubles scalar = { CPU_SCALAR, CPU_SCALAR };
    const uint64_t lines = whole_lines(share);
    uint64_t i = 0;

    for (; i < lines; i += 8) {
        for (uint64_t k = i; k < i + 8; k += 2) {
            store_two(share->dst, k,
                load_two(share->src, k) + scalar * load_two(share->third, k));
        }
    }
    for (; i < share->bytes / ELEMENT_BYTES; i++) {
        store(share->dst, i,
            load(share->src, i) + CPU_SCALAR * load(share->third, i));
    }
    store_finish();
    return 0;
}

uint64_t arrays_run_scale(const struct cpu_share *share)
{
    const store_doubles scalar = { CPU_SCALAR, CPU_SCALAR };
    const uint64_t lines = whole_lines(share);
    uint64_t i = 0;

    for (; i < lines; i += 8) {
        for (uint64_t k = i; k < i + 8; k += 2) {
            store_two(share->dst, k, scalar * load_two(share->src, k));
        }
    }
    for (; i < share->bytes / ELEMENT_BYTES; i++) {
        store(share->dst, i, CPU_SCALAR * load(share->src, i));
    }
    store_finish();
    return 0;
}

uint64_t arrays_run_add(const struct cpu_share *share)
{
    const uint64_t lines = whole_lines(share);
    uint64_t i = 0;

    for (; i < lines; i += 8) {
        for (uint64_t k = i; k < i + 8; k += 2) {
            store_two(share->dst, k,
                load_two(share->src, k) + load_two(share->third, k));
        }
    }
    for (; i < share->bytes / ELEMENT_BYTES; i++) {
        store(share->dst, i, load(share->src, i) + load(share->third, i));
    }
    store_finish();
    return 0;
}

/* Returned as a whole number, which it is. */
uint64_t arrays_run_dot(const struct cpu_share *share)
{
    const uint64_t elements = share->bytes / ELEMENT_BYTES;
    store_doubles sums[4] = { { 0, 0 } };
    uint64_t i = 0;

    for (; i + 8 <= elements; i += 8) {
        for (uint64_t k = 0; k < 4; k++) {
            sums[k] += load_two(share->src, i + 2 * k) *
                       load_two(share->third, i + 2 * k);
        }
    }
    double sum = 0;

    for (uint64_t k = 0; k < 4; k++) {
        sum += sums[k][0] + sums[k][1];
    }
    for (; i < elements; i++) {
        sum += load(share->src, i) * load(share->third, i);
    }
    return (uint64_t)sum;
}

uint64_t arrays_sum_dot(const struct cpu_share *share)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < share->bytes / ELEMENT_BYTES; i++) {
        sum += (pattern_word(share->src_key, i) >> SMALL_SHIFT) *
               (pattern_word(share->third_key, i) >> SMALL_SHIFT);
    }
    return sum;
}

static uint64_t bits(double value)
{
    uint64_t word;

    memcpy(&word, &value, sizeof word);
    return word;
}

static void compare(const struct cpu_share *share, uint64_t index,
    double expected, uint64_t *faults, struct pattern_fault *out_first)
{
    const double actual = load(share->dst, index);

    if (bits(actual) == bits(expected)) {
        return;
    }
    if (*faults == 0) {
        out_first->offset = index * ELEMENT_BYTES;
        out_first->expected = bits(expected);
        out_first->actual = bits(actual);
    }
    *faults += 1;
}

uint64_t arrays_check_triad(
    const struct cpu_share *share, struct pattern_fault *out_first)
{
    uint64_t faults = 0;

    for (uint64_t i = 0; i < share->bytes / ELEMENT_BYTES; i++) {
        const double b = number(share->src_key, i, WIDE_SHIFT);
        const double c = number(share->third_key, i, WIDE_SHIFT);

        compare(share, i, b + CPU_SCALAR * c, &faults, out_first);
    }
    return faults;
}

uint64_t arrays_check_scale(
    const struct cpu_share *share, struct pattern_fault *out_first)
{
    uint64_t faults = 0;

    for (uint64_t i = 0; i < share->bytes / ELEMENT_BYTES; i++) {
        const double b = number(share->src_key, i, WIDE_SHIFT);

        compare(share, i, CPU_SCALAR * b, &faults, out_first);
    }
    return faults;
}

uint64_t arrays_check_add(
    const struct cpu_share *share, struct pattern_fault *out_first)
{
    uint64_t faults = 0;

    for (uint64_t i = 0; i < share->bytes / ELEMENT_BYTES; i++) {
        const double b = number(share->src_key, i, WIDE_SHIFT);
        const double c = number(share->third_key, i, WIDE_SHIFT);

        compare(share, i, b + c, &faults, out_first);
    }
    return faults;
}
