/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A straight line through the times of copies of several sizes: what a copy
 * costs beside its bytes, how fast these go, and at which size both take the
 * same time, so that half of the rate is reached. Pure. */
#ifndef NVBW_TRANSFER_FIT_H
#define NVBW_TRANSFER_FIT_H

#include <stdint.h>

/* Points that a line is drawn through at least. */
enum { TRANSFER_FIT_LEAST = 3 };

struct transfer_fit {
    double call_cost_ns; /* 0 where the sizes are too large to show it */
    double rate;         /* bytes/s of sizes without end */
    double half_size;    /* bytes */
};

/* From sizes in bytes and bandwidths in bytes/s. Deviations count by their part
 * of the time, so a ladder's small sizes count as much as its large ones.
 * Returns 1, or 0 where there are too few sizes or no rate comes of them. */
int transfer_fit_line(const double *bytes, const double *bandwidths,
    uint32_t count, struct transfer_fit *out);

#endif
