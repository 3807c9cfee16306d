/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "bad_plugin.h"

#include <unistd.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    (void)ctx;
    while (pause() < 0) {
    }
    return NVBW_OK;
}

BAD_PLUGIN("loop_run", "1", run);
