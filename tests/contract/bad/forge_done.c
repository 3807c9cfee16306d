/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Forges its own good end, then goes on (rule C20). */
#include "bad_plugin.h"

#include "wire.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    struct done_frame done = { .status = NVBW_OK };
    (void)wire_send(4, FRAME_DONE, &done, NULL);
    return settle(ctx, 0);
}

BAD_PLUGIN("forge_done", "1", run);
