/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Numbers that pass each by itself: a stride beyond the buffer, an odd
 * offset, a load of one in a thousand. */
#include "bad_flow.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    struct nvbw_flow flow = good_flow(BAD_CELL(0, 0));
    flow.stride = UINT32_MAX;
    flow.offset = 4095;
    flow.load_permille = 1;
    flow.bytes = 1;
    return measure(ctx, &flow);
}

BAD_PLUGIN("flow_odd", "1", run);
