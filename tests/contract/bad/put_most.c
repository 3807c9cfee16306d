/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Many samples in each of four cells; then it dies, and what is settled goes
 * to the next worker (rule C14). */
#include "bad_plugin.h"

#include <stdlib.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    static double samples[65536];
    for (uint32_t i = 0; i < 65536; i++) {
        samples[i] = 1.0 + i;
    }
    for (uint32_t i = 0; i < 4; i++) {
        (void)ctx->host->put(ctx, BAD_CELL(0, i), samples, 65536);
    }
    if (ctx->host->wanted(ctx, BAD_CELL(0, 4))) {
        abort();
    }
    double median = 0.0;
    (void)ctx->host->figure(ctx, BAD_CELL(0, 3), &median);
    return median > 32700.0 && median < 32800.0 ? settle(ctx, 5)
                                                : NVBW_E_INVALID;
}

BAD_PLUGIN("put_most", "6", run);
