/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A status of no known number (rules C7 and C15). */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    (void)ctx;
    return -9999;
}

BAD_PLUGIN("garbage_status", "1", run);
