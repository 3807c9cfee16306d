/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The worker leaves by _exit, so this handler never runs (rule C24). */
#include "bad_plugin.h"

#include <stdlib.h>
#include <unistd.h>

static void hang(void)
{
    while (pause() < 0) {
    }
}

static int32_t run(struct nvbw_ctx *ctx)
{
    (void)atexit(hang);
    return settle(ctx, 0);
}

BAD_PLUGIN("hang_at_exit", "1", run);
