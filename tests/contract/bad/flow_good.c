/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Breaks nothing: shows that only one member spoils its sisters. */
#include "bad_flow.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    const struct nvbw_flow flow = good_flow(BAD_CELL(0, 0));
    return measure(ctx, &flow);
}

BAD_PLUGIN("flow_good", "1", run);
