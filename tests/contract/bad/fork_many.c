/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Sixty children in sessions of their own, each with a child (rule C19).
 * They bear a name by which a test can look for them. */
#include "bad_plugin.h"

#include <sys/prctl.h>
#include <unistd.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    for (int i = 0; i < 60; i++) {
        if (fork() == 0) {
            (void)setsid();
            (void)fork();
            (void)prctl(PR_SET_NAME, "nvbw_child");
            (void)sleep(600);
            _exit(0);
        }
    }
    return settle(ctx, 0);
}

BAD_PLUGIN("fork_many", "1", run);
