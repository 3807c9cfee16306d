/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A count with one zero too many (rule C16). */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    const double value = 1.0;
    return ctx->host->put(ctx, BAD_CELL(0, 0), &value, 1000000000);
}

BAD_PLUGIN("put_many", "1", run);
