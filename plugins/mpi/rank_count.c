/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "rank_count.h"

uint32_t rank_count(struct nvbw_ctx *ctx)
{
    const struct nvbw_place *const *const ranks =
        ctx->host->places(ctx, "rank");
    uint32_t count = 0;

    while (ranks[count] != NULL) {
        count++;
    }
    return count;
}
