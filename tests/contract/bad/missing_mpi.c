/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Needs a library that is on no machine (rule C23). */
#include "bad_plugin.h"

extern int acme_open(void);

static int32_t run(struct nvbw_ctx *ctx)
{
    return acme_open() < 0 ? NVBW_E_SYSTEM : settle(ctx, 0);
}

BAD_PLUGIN("missing_mpi", "1", run);
