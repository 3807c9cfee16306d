/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* More bytes than any machine has, yet a flow by all rules: there is not
 * enough memory. */
#include "bad_flow.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    struct nvbw_flow flow = good_flow(BAD_CELL(0, 0));
    flow.bytes = UINT64_C(1) << 46;
    return measure(ctx, &flow);
}

BAD_PLUGIN("flow_vast", "1", run);
