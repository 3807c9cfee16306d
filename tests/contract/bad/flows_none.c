/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A measurement without flows (rule C13). */
#include "bad_flow.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    const struct nvbw_measurement measurement = {
        .size = sizeof measurement,
        .total = BAD_CELL(0, 0),
    };
    return ctx->host->measure(ctx, &measurement);
}

BAD_PLUGIN("flows_none", "1", run);
