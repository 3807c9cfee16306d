/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    volatile int *const nowhere = NULL;
    *nowhere = 1;
    return settle(ctx, 0);
}

BAD_PLUGIN("segfault_run", "1", run);
