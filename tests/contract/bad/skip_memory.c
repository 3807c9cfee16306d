/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    const int32_t status =
        ctx->host->skip(ctx, BAD_CELL(0, 0), NVBW_SKIP_MEMORY, "needs 8 TiB");
    return status < 0 ? status : settle(ctx, 1);
}

BAD_PLUGIN("skip_memory", "2", run);
