/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Writes where only the host's own runtime may (rule C20). */
#include "bad_plugin.h"

#include <string.h>
#include <unistd.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    char garbage[4096];
    memset(garbage, 0xa5, sizeof garbage);
    for (int i = 0; i < 16; i++) {
        (void)!write(4, garbage, sizeof garbage);
    }
    return settle(ctx, 0);
}

BAD_PLUGIN("garbage_frames", "1", run);
