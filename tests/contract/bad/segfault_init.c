/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "bad_plugin.h"

static int32_t init(struct nvbw_ctx *ctx)
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

BAD_TESTCASE("segfault_init", "1", run);
const struct nvbw_plugin nvbw_plugin_v1 = { BAD_MEMBERS("segfault_init"),
    .init = init };
