/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Claims to have been cancelled, which nobody asked for (rules C7 and C18). */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    (void)ctx;
    return NVBW_E_CANCELLED;
}

BAD_PLUGIN("cancel_unasked", "1", run);
