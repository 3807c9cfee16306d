/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* init says E_SKIPPED and no reason (rules C7 and C15). */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    return settle(ctx, 0);
}

static int32_t init(struct nvbw_ctx *ctx)
{
    (void)ctx;
    return NVBW_E_SKIPPED;
}

BAD_TESTCASE("init_skips", "1", run);
const struct nvbw_plugin nvbw_plugin_v1 = { BAD_MEMBERS("init_skips"),
    .init = init };
