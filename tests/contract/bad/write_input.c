/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Writes to the end of a pipe that is for reading (rule C17). */
#include "bad_plugin.h"

#include <unistd.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    const ssize_t written = write(3, "garbage", 7);
    (void)written;
    return settle(ctx, 0);
}

BAD_PLUGIN("write_input", "1", run);
