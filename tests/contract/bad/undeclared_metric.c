/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Rule C11. */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    const struct nvbw_cell cell = NVBW_CELL("speed", 0, 0);
    const double value = 1.0;
    (void)ctx->host->put(ctx, &cell, &value, 1);
    return settle(ctx, 0);
}

BAD_PLUGIN("undeclared_metric", "1", run);
