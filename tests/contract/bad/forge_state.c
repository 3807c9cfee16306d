/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Forges a record with a state that is the host's to give (rule C20). */
#include "bad_plugin.h"

#include "state.h"
#include "wire.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    struct record record = { .metric = "figure", .state = STATE_PASS };
    (void)ctx;
    return wire_send(4, FRAME_CELL, &record, NULL);
}

BAD_PLUGIN("forge_state", "1", run);
