/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Forbidden (rule C17) and harmless: paths of the host are absolute. */
#include "bad_plugin.h"

#include <sys/stat.h>
#include <unistd.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    (void)!chdir("/");
    (void)umask(0777);
    return settle(ctx, 0);
}

BAD_PLUGIN("change_cwd", "1", run);
