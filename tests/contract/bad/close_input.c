/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Closes the pipe that brings tasks: what it settled stays. */
#include "bad_plugin.h"

#include <unistd.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    (void)close(3);
    return settle(ctx, 0);
}

BAD_PLUGIN("close_input", "1", run);
