/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Only SIGKILL ends it (rules C17 and C18). */
#include "bad_plugin.h"

#include <signal.h>
#include <unistd.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    (void)ctx;
    (void)signal(SIGTERM, SIG_IGN);
    while (pause() < 0) {
    }
    return NVBW_OK;
}

BAD_PLUGIN("ignore_sigterm", "1", run);
