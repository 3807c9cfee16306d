/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* How many bytes one copy has, and how many copies a sample, where the plan
 * leaves it to the engine. Pure. */
#ifndef NVBW_COPY_SIZE_H
#define NVBW_COPY_SIZE_H

#include "engine.h"

/* The standard parameter's default. In fixed mode it is what it says; in
 * adaptive mode it leaves the size to the path, and any other value is taken
 * as it is. */
#define COPY_SIZE_DEFAULT (UINT64_C(512) << 20)

/* Copies of a sample, at least. */
enum { COPY_SIZE_COPIES = 4 };

/* For a resolved flow whose plugin gave no bytes. */
uint64_t copy_size(const struct facts *facts, const struct flow_record *flow,
    const struct measure_params *params);

/* How many copies of this size a sample has at least and at most, so that no
 * cache answers and no buffer outgrows its machine. */
uint64_t copy_count_least(
    const struct facts *facts, const struct flow_record *flow);
uint64_t copy_count_most(
    const struct facts *facts, const struct flow_record *flow, uint64_t limit);

#endif
