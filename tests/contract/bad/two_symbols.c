/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Exports more than its descriptor (rule C1). */
#include "bad_plugin.h"

extern __attribute__((visibility("default"))) const int acme_version;
const int acme_version = 1;

static int32_t run(struct nvbw_ctx *ctx)
{
    return settle(ctx, 0);
}

BAD_PLUGIN("two_symbols", "1", run);
