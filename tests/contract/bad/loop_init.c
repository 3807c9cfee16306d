/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "bad_plugin.h"

#include <unistd.h>

static int32_t init(struct nvbw_ctx *ctx)
{
    (void)ctx;
    while (pause() < 0) {
    }
    return NVBW_OK;
}

static int32_t run(struct nvbw_ctx *ctx)
{
    return settle(ctx, 0);
}

BAD_TESTCASE("loop_init", "1", run);
const struct nvbw_plugin nvbw_plugin_v1 = { BAD_MEMBERS("loop_init"),
    .init = init };
