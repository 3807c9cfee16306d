/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Wants to be linked with the host (rule C1). */
#include "bad_plugin.h"

extern int32_t nvbw_host_version(void);

static int32_t run(struct nvbw_ctx *ctx)
{
    return nvbw_host_version() < 0 ? -1 : settle(ctx, 0);
}

BAD_PLUGIN("undefined_host", "1", run);
