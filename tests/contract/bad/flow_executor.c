/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* An executor that no axis has. */
#include "bad_flow.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    struct nvbw_flow flow = good_flow(BAD_CELL(0, 0));
    flow.executor = -7;
    return measure(ctx, &flow);
}

BAD_PLUGIN("flow_executor", "1", run);
