/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Code that runs inside dlopen (rule C17), and never ends. */
#include "bad_plugin.h"

#include <unistd.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    return settle(ctx, 0);
}

__attribute__((constructor)) static void begin(void)
{
    while (pause() < 0) {
    }
}

BAD_PLUGIN("loop_constructor", "1", run);
