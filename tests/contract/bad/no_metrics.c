/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A testcase that measures nothing (rule C11). */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    return settle(ctx, 0);
}

BAD_TESTCASE("no_metrics_other", "1", run);
static const struct nvbw_testcase testcase = {
    .size = sizeof testcase,
    .name = "no_metrics",
    .summary = "Breaks one rule.",
    .run = run,
};
#pragma GCC diagnostic ignored "-Woverride-init"
const struct nvbw_plugin nvbw_plugin_v1 = {
    BAD_MEMBERS("no_metrics"),
    .testcases = (const struct nvbw_testcase *const[]){ &testcase, NULL },
};
