/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Rule C10. */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    (void)ctx->host->param_int(ctx, "lanes", 0);
    return settle(ctx, 0);
}

BAD_PLUGIN("undeclared_param", "1", run);
