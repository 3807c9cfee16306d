/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Takes it that the host never fails: check-plugin finds it (rule C27).
 * In a run nothing fails, and it is measured. */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    const struct nvbw_place *const *const nodes =
        ctx->host->places(ctx, "numa");
    return nodes[0]->name[0] == '\0' ? NVBW_E_SYSTEM : settle(ctx, 0);
}

BAD_PLUGIN("ignore_failure", "1", run);
