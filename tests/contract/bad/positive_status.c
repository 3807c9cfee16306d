/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Statuses are zero or negative (rule C15); its cell has no word. */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    (void)ctx;
    return 12345;
}

BAD_PLUGIN("positive_status", "1", run);
