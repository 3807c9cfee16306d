/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* init may say that the plugin cannot work. */
#include "bad_plugin.h"

static int32_t init(struct nvbw_ctx *ctx)
{
    return ctx->host->fail(ctx, NULL, NVBW_E_SYSTEM, 13, "no card to talk to");
}

static int32_t run(struct nvbw_ctx *ctx)
{
    return settle(ctx, 0);
}

BAD_TESTCASE("fail_init", "1", run);
const struct nvbw_plugin nvbw_plugin_v1 = { BAD_MEMBERS("fail_init"),
    .init = init };
