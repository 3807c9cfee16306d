/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A reason of no known number (rule C7). */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    return ctx->host->skip(ctx, BAD_CELL(0, 0), 4711, "because");
}

BAD_PLUGIN("skip_unknown", "1", run);
