/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What is under test failed: exit code 1. */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    return ctx->host->fail(
        ctx, BAD_CELL(0, 0), NVBW_E_DEVICE, 0, "bit 3 of word 7 is stuck");
}

BAD_PLUGIN("wrong_data", "1", run);
