/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    return ctx->host->fail(
        ctx, NULL, NVBW_E_SYSTEM, 5, "the card did not answer");
}

BAD_PLUGIN("fail_all", "2", run);
