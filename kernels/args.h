/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The engine's kernels and their arguments: plain C, shared by the kernels,
 * the runtime that launches them and the simulated driver that imitates them.
 * Every kernel takes one struct by value; every member is 64 bits, addresses
 * are device addresses, words are 64 bits, little-endian.
 *
 * All but the gate are written as loops over the grid, so any number of blocks
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

/* ---- Kernels that move the bytes of flows -------------------------------
 *
 * Launched with SM_THREADS threads a block, the one of bulk copies with
 * TMA_THREADS, and any number of blocks. Any count of bytes and any addresses
 * are right; they are fast where sources and destinations have the same place
 * within 16 bytes. `stamps` is 0 or where two 64-bit words get %globaltimer:
 * as the first block starts, and as the last one ends. */
enum { SM_THREADS = 256, SM_VECTOR = 16 };
/* A block's ring of bulk copies. */
enum { TMA_THREADS = 64, TMA_TILE = 1024, TMA_STAGES = 2 };

/* copy: one vector a thread and turn, for grids that cover everything.
 * copy_wide: four in flight a thread, for grids of few blocks.
 * tma: by bulk copies through shared memory.
 * copy_multicast: dst is an address of a multicast object, and both it and src
 * are multiples of 16; of a last word of 4 bytes all are stored. */
struct copy_args {
    uint64_t dst, src, bytes, stamps;
};

/* Copies the first SPLIT_FORWARD(bytes) bytes from src to dst and the rest from
 * dst to src, and so `copies` times, each behind the one before; warps
 * alternate between the two, half of them going each way. */
struct split_args {
    uint64_t dst, src, bytes, copies, stamps;
};
#define SPLIT_FORWARD(bytes) ((bytes) / 2 / SM_VECTOR * SM_VECTOR)

/* What reads and writes are told of the vectors of their memory, because a
 * thread that works it out for itself loses the time of one access in ten:
 * how many there are after `lead` bytes, 0 or one word. None: the memory is
 * taken by words. */
struct vector_span {
    uint64_t lead, vectors;
};
static inline struct vector_span vector_span_of(
    uint64_t address, uint64_t bytes)
{
    const uint64_t lead = (0 - address) % SM_VECTOR;
    struct vector_span span = { 0, 0 };

    if (address % 8 == 0 && bytes >= lead + SM_VECTOR) {
        span.lead = lead;
        span.vectors = (bytes - lead) / SM_VECTOR;
    }
    return span;
}

/* Adds the sum modulo 2^64 of all words, a partial last one padded with
 * zeros, to SUM_SLOTS words at `sums`, SUM_STEP bytes apart, that are summed
 * up by whoever wants the result. */
struct read_args {
    uint64_t src, bytes, sums, stamps;
    struct vector_span span; /* vector_span_of(src, bytes) */
};
enum { SUM_SLOTS = 1024, SUM_STEP = 64 };

/* As read, at a pace: a block's tiles are due pace_ns apart, each of its warps'
 * parts at a moment of its own, and what is late is made up for; 0: as fast as
 * it can. */
struct read_paced_args {
    struct read_args read;
    uint64_t pace_ns;
};
enum { PACED_TILE = 4 * SM_THREADS * SM_VECTOR };

/* As fill, in vectors. */
struct write_args {
    uint64_t dst, bytes, key, stamps;
    struct vector_span span; /* vector_span_of(dst, bytes) */
};

/* Adds to *sum what nvbw_read finds in so many bytes of the pattern. */
struct pattern_sum_args {
    uint64_t bytes, key, sum;
};

/* ---- Arrays of numbers ---------------------------------------------------
 *
 * Doubles that are whole numbers, made of the pattern, so that what comes of
 * them is exact in whatever order it is computed, and every word of a result
 * can be told in advance. `form` says what stands in an array: */
enum number_form {
    NUMBERS_WIDE = 0, /* b: 50 bits of the pattern */
    NUMBERS_SMALL,    /* b: 16 bits of it */
    NUMBERS_SCALED,   /* 3 b, of wide ones; likewise: */
    NUMBERS_ADDED,    /* b + c */
    NUMBERS_TRIAD,    /* b + 3 c */
    NUMBERS_PRODUCT,  /* b c of small ones, as a whole number */
    NUMBER_FORMS
};
/* The key of c where that of b is `key`. */
#define NUMBERS_THIRD(key) ((key) + 0x5851f42d4c957f2dull)
#define NUMBERS_FACTOR     3.0

/* Word i of memory becomes word i of the form. Whole words only. */
struct numbers_fill_args {
    uint64_t memory, bytes, key, form;
};

/* As compare, of a form and whole words. */
struct numbers_compare_args {
    uint64_t memory, bytes, key, form, wrong, first;
};

/* Adds to *sum the sum modulo 2^64 of the words of the form. */
struct numbers_sum_args {
    uint64_t bytes, key, form, sum;
};

/* stream_copy: dst = src. stream_scale: dst = 3 src. stream_add: dst = src +
 * third. stream_triad: dst = src + 3 third. stream_dot: adds the sum of all
 * src third, as a whole number, to SUM_SLOTS words at `sums` as read does; a
 * thread adds up to 2^21 products a lap. All arrays have so many bytes, whole
 * vectors, begin at vectors, and are gone through `laps` times, each time alike
 * and each block through its own part. */
struct stream_args {
    uint64_t dst, src, third, bytes, laps, sums, stamps;
};

/* ---- Single accesses -----------------------------------------------------
 *
 * Memory as elements of 4, 8 or 16 bytes, at multiples of that. Access n of
 * `accesses` is to element n * step; with `bits` to element place(n), which
 * takes the first 2^bits to each other (access_place.h), and step is 1.
 * access_copy: from src to the same place of dst. access_write: that element of
 * words that count up by ACCESS_STEP from `key`, since the pattern would take
 * longer to compute than memory to write. access_read: adds the element, 16
 * bytes as two words, to SUM_SLOTS words at `sums` as read does. */
struct access_args {
    uint64_t dst, src, key, element, accesses, step, bits, sums, stamps;
};

#define ACCESS_STEP 0x9e3779b97f4a7c15ull

/* As compare, of what access_copy leaves behind where `word` was over and over:
 * that in elements that are no multiple of step. steps: 1 for access_write. */
struct access_compare_args {
    uint64_t memory, bytes, key, element, step, steps, word, wrong, first;
};

/* Adds to *sum what access_read finds in so many bytes of the pattern. */
struct access_sum_args {
    uint64_t bytes, key, element, step, sum;
};

/* X(name, arguments): the kernel nvbw_NAME with struct ARGUMENTS_args. */
#define SM_KERNELS(X)                                                          \
    X(copy, copy)                                                              \
    X(copy_wide, copy)                                                         \
    X(tma, copy)                                                               \
    X(copy_multicast, copy)                                                    \
    X(split, split)                                                            \
    X(read, read)                                                              \
    X(write, write)                                                            \
    X(pattern_sum, pattern_sum)                                                \
    X(stream_copy, stream)                                                     \
    X(stream_scale, stream)                                                    \
    X(stream_add, stream)                                                      \
    X(stream_triad, stream)                                                    \
    X(stream_dot, stream)                                                      \
    X(numbers_fill, numbers_fill)                                              \
    X(numbers_compare, numbers_compare)                                        \
    X(numbers_sum, numbers_sum)                                                \
    X(access_copy, access)                                                     \
    X(access_read, access)                                                     \
    X(access_write, access)                                                    \
    X(access_compare, access_compare)                                          \
    X(access_sum, access_sum)                                                  \
    X(read_paced, read_paced)

/* ---- Chains of dependent loads -------------------------------------------
 *
 * A chain is `count` nodes in as many slots of `step` bytes; the first word of
 * a node is the address of the next one, and the last leads to the first. In
 * its slot a node is on one of `lines` lines, which a hash chooses. */
enum { CHASE_LINE = 128, CHASE_NODE = 16, LAP_THREADS = 64 };
/* word: pattern_word(key, slot). */
#define CHASE_OFFSET(word, slot, step, lines)                                  \
    ((slot) * (step) + (word) % (lines)*CHASE_LINE)

/* chase: the one thread of block `block` follows the chain from address `at`
 * for so many steps; all other blocks end at once. Launched with one thread a
 * block and one block an SM. chase_bulk: each step is a bulk copy of the node
 * to shared memory, and gives up after limit_ns of %globaltimer. */
struct chase_args {
    uint64_t at, steps, block, result, limit_ns;
};
/* Written at `result`. at: where the walk ended, 0: it gave up. unit: the SM
 * that it ran on. */
struct chase_result {
    uint64_t start_ns, end_ns, at, unit;
};

/* Lays a chain: list[slot] is the address of the node that follows. */
struct chase_lay_args {
    uint64_t memory, list, count, step, lines, key;
};

/* Thread number s of the first `segments` follows the chain from starts[s],
 * and writes to ends[s] where it came to. All segments together are a lap:
 * each has `steps` steps but the last, which takes what is left of `count`.
 * An address that is not within the chain's memory ends the walk there. */
struct chase_lap_args {
    uint64_t memory, bytes, starts, ends, segments, steps, count;
};

/* X(name, arguments), as above. */
#define CHASE_KERNELS(X)                                                       \
    X(chase, chase)                                                            \
    X(chase_bulk, chase)                                                       \
    X(chase_lay, chase_lay)                                                    \
    X(chase_lap, chase_lap)

#endif
