/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Past 1 MiB of log lines are counted and dropped (rule C20). */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    for (int i = 0; i < 100000; i++) {
        ctx->host->log(ctx, NVBW_LOG_INFO,
            "the same line of sixty-four characters, again and again ...");
    }
    return settle(ctx, 0);
}

BAD_PLUGIN("flood_log", "1", run);
