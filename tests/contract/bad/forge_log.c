/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Logs empty lines past its buffer, as fast as it can (rule C20). */
#include "bad_plugin.h"

#include "wire.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    struct log_frame line = { .level = NVBW_LOG_INFO, .text = "" };
    for (int i = 0; i < 50000; i++) {
        (void)wire_send(4, FRAME_LOG, &line, NULL);
    }
    return settle(ctx, 0);
}

BAD_PLUGIN("forge_log", "1", run);
