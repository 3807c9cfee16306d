/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A figure that is no number. */
#include "bad_plugin.h"

#include <math.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    const double value = (double)NAN;
    (void)ctx->host->put(ctx, BAD_CELL(0, 0), &value, 1);
    return NVBW_OK;
}

BAD_PLUGIN("put_nan", "1", run);
