/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The clock of deadlines and of what the host sees of a sample:
 * CLOCK_MONOTONIC, or the virtual clock of the simulated driver. A loop that
 * waits for the GPU reads it in every turn; with the simulated driver it is
 * that reading which makes time pass. [any] */
#ifndef NVBW_CLOCK_H
#define NVBW_CLOCK_H

#include <stdint.h>

typedef uint64_t clock_now_fn(void);

/* Nanoseconds. */
uint64_t clock_now_ns(void);
/* From now on this clock; NULL: CLOCK_MONOTONIC. Before the first thread. */
void clock_use(clock_now_fn *now);
/* CLOCK_MONOTONIC, whatever is in use: for what other processes read. */
uint64_t clock_machine_ns(void);

#endif
