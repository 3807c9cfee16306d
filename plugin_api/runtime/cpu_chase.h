/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Latency of memory: a chain of dependent loads, one per cache line, that
 * visits every line once before it comes back to the first. */
#ifndef NVBW_CPU_CHASE_H
#define NVBW_CPU_CHASE_H

#include "status.h"

#include <stdint.h>

struct chase_line {
    const struct chase_line *next;
    uint64_t rank; /* how many steps from the head; proves where a walk is */
    uint64_t rest[6];
};

struct chase {
    struct chase_line *lines;
    uint64_t count;
    const struct chase_line *at; /* where the next walk begins */
};

/* Lays the chain into memory that is aligned to 64 bytes. stride: bytes from
 * one access to the next, in order of addresses; 0: a random cycle from the
 * seed. NVBW_E_SKIPPED where the memory is too small or too large. */
int32_t chase_build(void *memory, uint64_t bytes, uint64_t stride,
    uint64_t seed, struct chase *out, struct error *err);
/* Takes that many steps from chase->at and moves it there. */
void chase_walk(struct chase *chase, uint64_t steps);

#endif
