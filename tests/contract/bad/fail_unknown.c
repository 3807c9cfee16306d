/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* fail() with a status of no known number (rule C7). */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    return ctx->host->fail(ctx, BAD_CELL(0, 0), -77, 0, "strange");
}

BAD_PLUGIN("fail_unknown", "1", run);
