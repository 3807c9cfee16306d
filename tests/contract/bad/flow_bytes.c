/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* More bytes than there can be. */
#include "bad_flow.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    struct nvbw_flow flow = good_flow(BAD_CELL(0, 0));
    flow.bytes = UINT64_MAX;
    return measure(ctx, &flow);
}

BAD_PLUGIN("flow_bytes", "1", run);
