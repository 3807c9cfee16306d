/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* An end without a farewell is a crash, even with status 0 (rule C19). */
#include "bad_plugin.h"

#include <stdlib.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    (void)ctx;
    exit(0);
}

BAD_PLUGIN("exit_zero", "1", run);
