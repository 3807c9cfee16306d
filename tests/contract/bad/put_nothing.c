/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A figure of no samples. */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    const double value = 1.0;
    (void)ctx->host->put(ctx, BAD_CELL(0, 0), &value, 0);
    return NVBW_OK;
}

BAD_PLUGIN("put_nothing", "1", run);
