/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What the testcases of this plugin share. */
#ifndef NVBW_TRANSFER_H
#define NVBW_TRANSFER_H

#include "nvbw/plugin.h"

enum transfer_way { TRANSFER_DOWN, TRANSFER_UP, TRANSFER_WITHIN };

/* A testcase's `user`. */
struct transfer {
    enum transfer_way way;
    const char *sizes; /* LIST parameter that has them; NULL: buffer_size */
};

/* A flow of this way for a GPU, with the memory that the parameters name.
 * node: position of the host's NUMA node, or NVBW_NEAR. */
struct nvbw_flow transfer_flow(
    struct nvbw_ctx *ctx, enum transfer_way way, uint32_t gpu, int32_t node);

/* run() of the batched testcases. (transfer_batch.c) */
int32_t transfer_batch_run(struct nvbw_ctx *ctx);

extern const struct nvbw_testcase transfer_batched_host_to_device;
extern const struct nvbw_testcase transfer_batched_device_to_host;

#endif
