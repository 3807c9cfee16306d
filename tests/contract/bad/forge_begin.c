/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Begins measurements for ever, so that no deadline should come (rules
 * C18 and C20). */
#include "bad_plugin.h"

#include <unistd.h>

#include "wire.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    uint32_t cell = 0;
    struct begin_frame begin = { .cells = &cell, .cells_count = 1 };
    (void)ctx;
    for (;;) {
        (void)wire_send(4, FRAME_BEGIN, &begin, NULL);
        (void)usleep(10000);
    }
    return NVBW_OK;
}

BAD_PLUGIN("forge_begin", "1", run);
