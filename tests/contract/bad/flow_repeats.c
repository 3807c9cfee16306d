/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* More copies than a lifetime has (rule C18). */
#include "bad_flow.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    struct nvbw_flow flow = good_flow(BAD_CELL(0, 0));
    flow.repeats = UINT64_MAX;
    return measure(ctx, &flow);
}

BAD_PLUGIN("flow_repeats", "1", run);
