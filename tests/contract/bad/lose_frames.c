/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Its figures go nowhere: the host hears no more of it (rule C18). */
#include "bad_plugin.h"

#include <fcntl.h>
#include <unistd.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    (void)dup2(null, 4);
    return settle(ctx, 0);
}

BAD_PLUGIN("lose_frames", "1", run);
