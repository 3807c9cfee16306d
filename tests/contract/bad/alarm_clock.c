/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A timer of its own kills it (rule C17). */
#include "bad_plugin.h"

#include <unistd.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    (void)ctx;
    (void)alarm(1);
    for (;;) {
        (void)pause();
    }
    return NVBW_OK;
}

BAD_PLUGIN("alarm_clock", "1", run);
