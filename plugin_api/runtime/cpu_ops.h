/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What a thread does to its share of a copy. Each operation is a row of a
 * table: how its sources are filled, how it runs and how the outcome is
 * checked against values computed anew.
 *
 * Destinations are written with non-temporal stores where the machine has
 * them (x86), so that a line is not read before it is overwritten: memory
 * then moves exactly the bytes that are counted, for every size and number of
 * threads. Elsewhere, and for destinations that are not aligned to
 * CPU_STORE_ALIGN bytes, stores are ordinary ones. */
#ifndef NVBW_CPU_OPS_H
#define NVBW_CPU_OPS_H

#include "pattern.h"

#include <stdint.h>

enum { CPU_STORE_ALIGN = 16, CPU_LINE_BYTES = 64 };

/* A share of one slice. Keys are those of the share's first word. */
struct cpu_share {
    unsigned char *dst;
    const unsigned char *src, *third;
    uint64_t bytes; /* of each of them */
    uint64_t src_key, third_key;
    uint64_t value; /* first word of WRITE, which counts up from it */
};

struct cpu_op {
    uint32_t src, third, dst; /* 1: has such an array */
    uint32_t payload;         /* how often a copy's bytes are counted */
    uint32_t traffic;         /* how often they pass through memory */
    uint32_t element;         /* bytes; what is left over is not touched */
    /* Fills a source with what run() expects. */
    void (*fill)(void *memory, uint64_t bytes, uint64_t key);
    /* Does it; returns the sum for READ and DOT, else 0. */
    uint64_t (*run)(const struct cpu_share *share);
    /* The sum that run() must return, or NULL: look at the destination. */
    uint64_t (*sum)(const struct cpu_share *share);
    /* Counts the wrong words of the destination, and describes the first by
     * its offset in the share. */
    uint64_t (*check)(
        const struct cpu_share *share, struct pattern_fault *out_first);
};

/* The operation's row, or NULL where CPUs do not do it this way (SPLIT,
 * CHASE, unknown numbers). */
const struct cpu_op *cpu_op_find(uint32_t operation);

/* The factor of TRIAD and SCALE. */
#define CPU_SCALAR 3.0

/* Makes a destination wrong everywhere, past the caches: lines that it left
 * dirty there would be written back while the next sample is measured. */
void cpu_poison(void *memory, uint64_t bytes);

#endif
