/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What the testcases of this plugin share. */
#ifndef NVBW_LATENCY_H
#define NVBW_LATENCY_H

#include "nvbw/plugin.h"

enum chase_order { ORDER_STRIDE = 0, ORDER_RANDOM = 1 };

/* Where the chain lies, seen from the GPU that follows it. */
enum where { ON_HOST, ON_PEER, ON_ITSELF };

extern const struct nvbw_param latency_footprint_param;
/* Bytes that the chain lies in: row's GPU follows it, col's has the memory. */
uint64_t latency_footprint(struct nvbw_ctx *ctx, enum where where,
    enum chase_order order, const struct nvbw_place *row,
    const struct nvbw_place *col);

/* latency_loaded.c */
extern const struct nvbw_testcase host_device_latency_loaded;
extern const struct nvbw_testcase device_to_device_latency_loaded;
extern const struct nvbw_testcase device_local_latency_loaded;

#endif
