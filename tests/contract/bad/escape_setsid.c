/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The child leaves the worker's process group; the host must sweep it (rule
 * C19). It bears a name by which a test can look for it. */
#include "bad_plugin.h"

#include <sys/prctl.h>
#include <unistd.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    if (fork() == 0) {
        (void)setsid();
        (void)prctl(PR_SET_NAME, "nvbw_escaped");
        (void)sleep(600);
        _exit(0);
    }
    return settle(ctx, 0);
}

BAD_PLUGIN("escape_setsid", "1", run);
