/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A cell without its size (rule C2). */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    const struct nvbw_cell cell = { .metric = "figure" };
    const double value = 1.0;
    (void)ctx->host->put(ctx, &cell, &value, 1);
    return settle(ctx, 0);
}

BAD_PLUGIN("cell_size", "1", run);
