/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* How much memory a chain of loads lies in, for plugins that have chains. */
#ifndef NVBW_CHASE_FOOTPRINT_H
#define NVBW_CHASE_FOOTPRINT_H

#include "nvbw/plugin.h"

/* Choices of the standard parameter chase. */
enum chase_order { ORDER_STRIDE = 0, ORDER_RANDOM = 1 };
enum { CHASE_STRIDE = 128 }; /* bytes, in order of addresses */

/* Where the chain lies, seen from the GPU that follows it. */
enum chase_where { ON_HOST, ON_PEER, ON_ITSELF };

/* The parameter `footprint`, which all testcases with chase_footprint have. */
extern const struct nvbw_param chase_footprint_param;
/* Bytes that the chain lies in: row's GPU follows it, col's has the memory. */
uint64_t chase_footprint(struct nvbw_ctx *ctx, enum chase_where where,
    enum chase_order order, const struct nvbw_place *row,
    const struct nvbw_place *col);

#endif
