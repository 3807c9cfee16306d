/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The engine's kernels and their arguments: plain C, shared by the kernels,
 * the runtime that launches them and the simulated driver that imitates them.
 * Every kernel takes one struct by value; every member is 64 bits, addresses
 * are device addresses, words are 64 bits, little-endian.
 *
 * All but the gate are written as loops over the grid, so any launch shape
 * gives the same result; the gate is launched as one thread. */
#ifndef NVBW_KERNEL_ARGS_H
#define NVBW_KERNEL_ARGS_H

#include <stdint.h>

/* Spins until the 32-bit word at `release` is not 0, or for limit_ns of
 * %globaltimer; then stores GATE_RELEASED or GATE_TIMED_OUT at `outcome`
 * (32 bits). */
struct gate_args {
    uint64_t release, outcome, limit_ns;
};
enum { GATE_RELEASED = 1, GATE_TIMED_OUT = 2 };

/* Writes pattern_word(key, i) to word i; of a partial last word its first
 * bytes. */
struct fill_args {
    uint64_t memory, bytes, key;
};

/* Writes `word` to every word, likewise. */
struct poison_args {
    uint64_t memory, bytes, word;
};

/* Adds to *wrong the number of words that differ from the pattern (a partial
 * last word counts as one) and lowers *first to the smallest offset in bytes
 * of such a word. Both are uint64_t that the caller has set to 0 and
 * UINT64_MAX. */
struct compare_args {
    uint64_t memory, bytes, key, wrong, first;
};

/* Adds to *sum the sum modulo 2^64 of all words, a partial last one padded
 * with zeros. */
struct sum_args {
    uint64_t memory, bytes, sum;
};

/* X(name): the kernel nvbw_NAME with struct NAME_args. */
#define ENGINE_KERNELS(X)                                                      \
    X(gate)                                                                    \
    X(fill)                                                                    \
    X(poison)                                                                  \
    X(compare)                                                                 \
    X(sum)

#endif
