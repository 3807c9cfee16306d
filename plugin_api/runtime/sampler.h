/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The rules of sampling that are plain arithmetic. sampler_run itself is
 * declared in session.h. Pure. */
#ifndef NVBW_SAMPLER_H
#define NVBW_SAMPLER_H

#include "session.h"

/* The next count of samples, above count, at which the interval is looked at:
 * 8, 12, 15 and the most, cut to [least, most]; 0 after the last. */
uint32_t sampler_next_look(uint32_t count, uint32_t least, uint32_t most);

/* How many copies make a sample long enough when `copies` took `seconds`. */
uint64_t sampler_copies(
    double seconds, uint64_t copies, uint64_t least, uint64_t limit);

/* A figure in its metric's unit: amount per second, or ns per amount. */
double sampler_value(uint32_t unit, const struct sample_figure *figure);

#endif
