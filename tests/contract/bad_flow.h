/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A flow that copies within the first node's memory, for plugins that spoil
 * one member of it. */
#ifndef NVBW_BAD_FLOW_H
#define NVBW_BAD_FLOW_H

#define BAD_UNIT NVBW_UNIT_BYTES_PER_SECOND
#include "bad_plugin.h"

static inline struct nvbw_flow good_flow(const struct nvbw_cell *cell)
{
    return (struct nvbw_flow){
        .size = sizeof(struct nvbw_flow),
        .initiator = NVBW_BY_CPU,
        .operation = NVBW_OP_COPY,
        .src_memory = NVBW_MEM_PAGEABLE,
        .dst_memory = NVBW_MEM_PAGEABLE,
        .cell = cell,
    };
}

static inline int32_t measure(
    struct nvbw_ctx *ctx, const struct nvbw_flow *flow)
{
    const struct nvbw_measurement measurement = {
        .size = sizeof measurement,
        .flows = (const struct nvbw_flow *const[]){ flow, NULL },
    };
    return ctx->host->measure(ctx, &measurement);
}

#endif
