/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Two measurements side by side that share the host's memory (rule C13). */
#include "bad_flow.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    const struct nvbw_flow one = good_flow(BAD_CELL(0, 0));
    const struct nvbw_flow other = good_flow(BAD_CELL(0, 1));
    const struct nvbw_measurement second = {
        .size = sizeof second,
        .flows = (const struct nvbw_flow *const[]){ &other, NULL },
    };
    const struct nvbw_measurement first = {
        .size = sizeof first,
        .flows = (const struct nvbw_flow *const[]){ &one, NULL },
        .beside = (const struct nvbw_measurement *const[]){ &second, NULL },
    };
    return ctx->host->measure(ctx, &first);
}

BAD_PLUGIN("beside_host", "2", run);
