/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Names no cell at all (rule C11). */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    const double value = 1.0;
    return ctx->host->put(ctx, NULL, &value, 1);
}

BAD_PLUGIN("cell_null", "1", run);
