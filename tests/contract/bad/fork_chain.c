/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A process that forks and ends, over and over: each parent is gone before
 * it can be killed (rule C19). It stops by itself in the end. */
#include "bad_plugin.h"

#include <sys/prctl.h>
#include <unistd.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    if (fork() == 0) {
        (void)setsid();
        (void)prctl(PR_SET_NAME, "nvbw_child");
        for (int i = 0; i < 2000; i++) {
            if (fork() != 0) {
                _exit(0);
            }
            (void)usleep(200);
        }
        _exit(0);
    }
    return settle(ctx, 0);
}

BAD_PLUGIN("fork_chain", "1", run);
