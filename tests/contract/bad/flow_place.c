/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A place that no axis has. */
#include "bad_flow.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    struct nvbw_flow flow = good_flow(BAD_CELL(0, 0));
    flow.src_place = 9999;
    return measure(ctx, &flow);
}

BAD_PLUGIN("flow_place", "1", run);
