/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    return ctx->host->skip(ctx, NULL, NVBW_SKIP_MIG, "slices share one buffer");
}

BAD_PLUGIN("skip_all", "2", run);
