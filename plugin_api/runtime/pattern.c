/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "pattern.h"

#include <stddef.h>
#include <string.h>

enum { WORD_BYTES = 8, BLOCK_WORDS = 64, LANES = 4 };

/* Keys that differ in one bit must give patterns that differ in half of
 * theirs, which takes more than a word of the pattern does. */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint64_t pattern_key(uint64_t buffer, uint64_t slice, uint64_t epoch)
{
    return mix(mix(mix(buffer) ^ slice) ^ epoch);
}

static uint64_t load(const unsigned char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

static void store(unsigned char *at, uint64_t word)
{
    memcpy(at, &word, sizeof word);
}

/* The first `bytes` bytes of a word in memory, the others zero. All machines
 * that we run on are little-endian. */
static uint64_t keep_bytes(uint64_t word, uint64_t bytes)
{
    return word & ((UINT64_C(1) << (8 * bytes)) - 1);
}

/* The loops below work on independent words, LANES of them at a time, so that
 * the chains of multiplications overlap. */
void pattern_fill(void *memory, uint64_t bytes, uint64_t key)
{
    unsigned char *at = memory;
    const uint64_t words = bytes / WORD_BYTES;
    const uint64_t tail = bytes % WORD_BYTES;
    uint64_t i = 0;

    for (; i + LANES <= words; i += LANES) {
        const uint64_t a = pattern_word(key, i);
        const uint64_t b = pattern_word(key, i + 1);
        const uint64_t c = pattern_word(key, i + 2);
        const uint64_t d = pattern_word(key, i + 3);

        store(at + i * WORD_BYTES, a);
        store(at + (i + 1) * WORD_BYTES, b);
        store(at + (i + 2) * WORD_BYTES, c);
        store(at + (i + 3) * WORD_BYTES, d);
    }
    for (; i < words; i++) {
        store(at + i * WORD_BYTES, pattern_word(key, i));
    }
    const uint64_t last = pattern_word(key, words);

    memcpy(at + words * WORD_BYTES, &last, tail);
}

/* Whether BLOCK_WORDS words from `index` on differ anywhere. */
static int block_differs(const unsigned char *at, uint64_t index, uint64_t key)
{
    uint64_t a = 0;
    uint64_t b = 0;
    uint64_t c = 0;
    uint64_t d = 0;

    at += index * WORD_BYTES;
    for (uint64_t i = 0; i < BLOCK_WORDS; i += LANES) {
        const unsigned char *const p = at + i * WORD_BYTES;

        a |= load(p) ^ pattern_word(key, index + i);
        b |= load(p + WORD_BYTES) ^ pattern_word(key, index + i + 1);
        c |=
            load(p + (size_t)2 * WORD_BYTES) ^ pattern_word(key, index + i + 2);
        d |=
            load(p + (size_t)3 * WORD_BYTES) ^ pattern_word(key, index + i + 3);
    }
    return ((a | b) | (c | d)) != 0;
}

static void note(uint64_t *faults, struct pattern_fault *out_first,
    uint64_t index, uint64_t expected, uint64_t actual)
{
    if (expected == actual) {
        return;
    }
    if (*faults == 0 && out_first != NULL) {
        out_first->offset = index * WORD_BYTES;
        out_first->expected = expected;
        out_first->actual = actual;
    }
    *faults += 1;
}

uint64_t pattern_compare(const void *memory, uint64_t bytes, uint64_t key,
    struct pattern_fault *out_first)
{
    const unsigned char *const at = memory;
    const uint64_t words = bytes / WORD_BYTES;
    const uint64_t tail = bytes % WORD_BYTES;
    uint64_t faults = 0;
    uint64_t i = 0;

    while (i < words) {
        if (i + BLOCK_WORDS <= words && !block_differs(at, i, key)) {
            i += BLOCK_WORDS;
            continue;
        }
        const uint64_t end = i + BLOCK_WORDS < words ? i + BLOCK_WORDS : words;

        for (; i < end; i++) {
            note(&faults, out_first, i, pattern_word(key, i),
                load(at + i * WORD_BYTES));
        }
    }
    if (tail != 0) {
        uint64_t actual = 0;

        memcpy(&actual, at + words * WORD_BYTES, tail);
        note(&faults, out_first, words,
            keep_bytes(pattern_word(key, words), tail), actual);
    }
    return faults;
}

uint64_t pattern_sum(uint64_t bytes, uint64_t key)
{
    const uint64_t words = bytes / WORD_BYTES;
    const uint64_t tail = bytes % WORD_BYTES;
    uint64_t sums[LANES] = { 0, 0, 0, 0 };
    uint64_t i = 0;

    for (; i + LANES <= words; i += LANES) {
        for (uint64_t lane = 0; lane < LANES; lane++) {
            sums[lane] += pattern_word(key, i + lane);
        }
    }
    for (; i < words; i++) {
        sums[0] += pattern_word(key, i);
    }
    if (tail != 0) {
        sums[0] += keep_bytes(pattern_word(key, words), tail);
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
