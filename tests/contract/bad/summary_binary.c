/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Descriptors that are no UTF-8 and would play with a terminal. */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    return settle(ctx, 0);
}

BAD_TESTCASE("summary_binary", "1", run);
#pragma GCC diagnostic ignored "-Woverride-init"
const struct nvbw_plugin nvbw_plugin_v1 = { BAD_MEMBERS("summary_binary"),
    .version = "\x1b[2J1.0\xff", .summary = "\x1b]0;owned\x07",
    .licence = "\xc3\x28" };
