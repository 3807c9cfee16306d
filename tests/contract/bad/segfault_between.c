/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Dies on the second of three cells: the first stays, the third is measured
 * by a fresh worker (rule C14). */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    for (uint32_t i = 0; i < 3; i++) {
        if (!ctx->host->wanted(ctx, BAD_CELL(0, i))) {
            continue;
        }
        if (i == 1) {
            volatile int *const nowhere = NULL;
            *nowhere = 1;
        }
        const int32_t status = settle(ctx, i);
        if (status < 0) {
            return status;
        }
    }
    return NVBW_OK;
}

BAD_PLUGIN("segfault_between", "3", run);
