/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The first word on a cell stands (rule C15). */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    const double late = 99.0;
    const int32_t status = settle(ctx, 0);
    (void)ctx->host->put(ctx, BAD_CELL(0, 0), &late, 1);
    (void)ctx->host->fail(ctx, BAD_CELL(0, 0), NVBW_E_DEVICE, 0, "too late");
    return status;
}

BAD_PLUGIN("settled_twice", "1", run);
