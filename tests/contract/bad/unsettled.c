/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Ends without a word on its second cell (rule C11). */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    return settle(ctx, 0);
}

BAD_PLUGIN("unsettled", "2", run);
