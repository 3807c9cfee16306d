/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Far more than is kept; the host reads on and drops. */
#include "bad_plugin.h"

#include <stdio.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    for (int i = 0; i < 100000; i++) {
        (void)puts(
            "the same line of sixty-four characters, again and again ...");
    }
    (void)fflush(stdout);
    return settle(ctx, 0);
}

BAD_PLUGIN("flood_stdout", "1", run);
