/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "bad_plugin.h"

#include <stdlib.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    (void)ctx;
    abort();
}

BAD_PLUGIN("abort_run", "1", run);
