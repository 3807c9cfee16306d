/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Dies when all is settled: the figure counts. */
#include "bad_plugin.h"

static int32_t fini(struct nvbw_ctx *ctx)
{
    volatile int *const nowhere = NULL;
    (void)ctx;
    *nowhere = 1;
    return NVBW_OK;
}

static int32_t run(struct nvbw_ctx *ctx)
{
    return settle(ctx, 0);
}

BAD_TESTCASE("segfault_fini", "1", run);
const struct nvbw_plugin nvbw_plugin_v1 = { BAD_MEMBERS("segfault_fini"),
    .fini = fini };
