/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* One cell fails, the other is measured. */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    const int32_t status = ctx->host->fail(
        ctx, BAD_CELL(0, 0), NVBW_E_SYSTEM, 5, "the card did not answer");
    return status < 0 ? status : settle(ctx, 1);
}

BAD_PLUGIN("fail_cell", "2", run);
