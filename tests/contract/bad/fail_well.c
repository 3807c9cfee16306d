/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* fail() with NVBW_OK (rule C7). */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    return ctx->host->fail(ctx, NULL, NVBW_OK, 0, "all is well");
}

BAD_PLUGIN("fail_well", "1", run);
