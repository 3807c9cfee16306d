/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A struct that is smaller than its own head (rule C4). */
#include "bad_flow.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    struct nvbw_flow flow = good_flow(BAD_CELL(0, 0));
    flow.size = 4;
    return measure(ctx, &flow);
}

BAD_PLUGIN("flow_size", "1", run);
