/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Wants to outlive the host and lowers its limits: both are its own alone. */
#include "bad_plugin.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    const struct rlimit none = { 0, 0 };
    (void)prctl(PR_SET_PDEATHSIG, 0);
    (void)setrlimit(RLIMIT_FSIZE, &none);
    (void)setrlimit(RLIMIT_NOFILE, &none);
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)umask(0777);
    return settle(ctx, 0);
}

BAD_PLUGIN("no_death_signal", "1", run);
