/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Wants a figure and gives no place for it. */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    (void)settle(ctx, 0);
    return ctx->host->figure(ctx, BAD_CELL(0, 0), NULL);
}

BAD_PLUGIN("figure_nowhere", "1", run);
