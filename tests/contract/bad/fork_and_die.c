/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The child holds the worker's pipes open: their end is no sign of death
 * (rule C19). It bears a name by which a test can look for it. */
#include "bad_plugin.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    (void)ctx;
    if (fork() == 0) {
        (void)prctl(PR_SET_NAME, "nvbw_child");
        (void)sleep(600);
        _exit(0);
    }
    abort();
}

BAD_PLUGIN("fork_and_die", "1", run);
