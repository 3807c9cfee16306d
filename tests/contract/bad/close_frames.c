/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Cuts the worker off from its host. */
#include "bad_plugin.h"

#include <unistd.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    (void)close(4);
    return settle(ctx, 0);
}

BAD_PLUGIN("close_frames", "1", run);
