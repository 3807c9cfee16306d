/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The operations on arrays of doubles: a = b + s * c and its relatives. The
 * arrays hold whole numbers, small enough for every result to be exact, so a
 * check can ask for equality whatever the order of additions. */
#ifndef NVBW_CPU_ARRAYS_H
#define NVBW_CPU_ARRAYS_H

#include "cpu_ops.h"

void arrays_fill(void *memory, uint64_t bytes, uint64_t key);
/* For DOT, whose sum must stay exact as well. */
void arrays_fill_small(void *memory, uint64_t bytes, uint64_t key);

uint64_t arrays_run_triad(const struct cpu_share *share);
uint64_t arrays_run_scale(const struct cpu_share *share);
uint64_t arrays_run_add(const struct cpu_share *share);
uint64_t arrays_run_dot(const struct cpu_share *share);

uint64_t arrays_check_triad(
    const struct cpu_share *share, struct pattern_fault *out_first);
uint64_t arrays_check_scale(
    const struct cpu_share *share, struct pattern_fault *out_first);
uint64_t arrays_check_add(
    const struct cpu_share *share, struct pattern_fault *out_first);
uint64_t arrays_sum_dot(const struct cpu_share *share);

#endif
