/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Rule C11: the axis has one entry, not eight. */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    (void)settle(ctx, 7);
    return settle(ctx, 0);
}

BAD_PLUGIN("undeclared_cell", "1", run);
