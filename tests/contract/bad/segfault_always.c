/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Never settles any of five cells: after three workers the rest is given up
 * (rule C14). */
#include "bad_plugin.h"

#include <signal.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    (void)ctx;
    return raise(SIGSEGV);
}

BAD_PLUGIN("segfault_always", "5", run);
