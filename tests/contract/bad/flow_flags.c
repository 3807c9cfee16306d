/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A flag of no known meaning (rule C2). */
#include "bad_flow.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    struct nvbw_flow flow = good_flow(BAD_CELL(0, 0));
    flow.flags = 0x80000000u;
    return measure(ctx, &flow);
}

BAD_PLUGIN("flow_flags", "1", run);
