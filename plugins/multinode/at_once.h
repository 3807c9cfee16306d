/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Traffic of all ranks at once: each acts on the one that is so many ranks
 * further. One measurement, however many ranks there are. */
#ifndef NVBW_AT_ONCE_H
#define NVBW_AT_ONCE_H

#include "nvbw/plugin.h"

/* How it is moved. */
struct rank_mover {
    uint32_t initiator;
    uint32_t reads; /* 1: who acts reads; 0: it writes */
};

/* A copy by `actor` from or to the memory of `other`. */
struct nvbw_flow rank_flow(const struct rank_mover *mover, uint32_t actor,
    uint32_t other, const struct nvbw_cell *cell);

/* Rank i with rank i + step, all at once: its figure goes to ("bandwidth", i,
 * col). */
int32_t at_once_measure(struct nvbw_ctx *ctx, const struct rank_mover *mover,
    uint32_t ranks, uint32_t step, uint32_t col);

#endif
