/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Ends the process when all is settled: the figure counts. */
#include "bad_plugin.h"

#include <unistd.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    (void)settle(ctx, 0);
    _exit(0);
}

BAD_PLUGIN("exit_settled", "1", run);
