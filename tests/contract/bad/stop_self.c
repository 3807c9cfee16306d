/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A stopped worker is no dead one; its deadline ends it. */
#include "bad_plugin.h"

#include <signal.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    (void)raise(SIGSTOP);
    return settle(ctx, 0);
}

BAD_PLUGIN("stop_self", "1", run);
