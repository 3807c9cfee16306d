/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A hundred thousand flows (rule C13). */
#include "bad_flow.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    static const struct nvbw_flow *flows[100001];
    const struct nvbw_flow flow = good_flow(BAD_CELL(0, 0));
    for (uint32_t i = 0; i < 100000; i++) {
        flows[i] = &flow;
    }
    const struct nvbw_measurement measurement = {
        .size = sizeof measurement,
        .flows = flows,
    };
    return ctx->host->measure(ctx, &measurement);
}

BAD_PLUGIN("flows_many", "1", run);
