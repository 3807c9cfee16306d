/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Code that runs inside dlopen (rule C17), and dies there. */
#include "bad_plugin.h"

#include <stdlib.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    return settle(ctx, 0);
}

__attribute__((constructor)) static void begin(void)
{
    abort();
}

BAD_PLUGIN("constructor", "1", run);
