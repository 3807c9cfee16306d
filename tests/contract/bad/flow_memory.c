/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A kind of memory of no known number (rule C7). */
#include "bad_flow.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    struct nvbw_flow flow = good_flow(BAD_CELL(0, 0));
    flow.dst_memory = 42;
    return measure(ctx, &flow);
}

BAD_PLUGIN("flow_memory", "1", run);
