/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Refuses its testcase, not the plugin: the other one is measured (rules C2
 * and C11). */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    return settle(ctx, 0);
}

BAD_TESTCASE("bad_axis_good", "1", run);
static const struct nvbw_metric figure = {
    .size = sizeof figure,
    .unit = NVBW_UNIT_COUNT,
    .better = NVBW_HIGHER,
    .name = "figure",
    .cols = "gpus",
};
static const struct nvbw_testcase testcase = {
    .size = sizeof testcase,
    .name = "bad_axis",
    .summary = "Breaks one rule.",
    .metrics = (const struct nvbw_metric *const[]){ &figure, NULL },
    .run = run,
};
#pragma GCC diagnostic ignored "-Woverride-init"
const struct nvbw_plugin nvbw_plugin_v1 = {
    BAD_MEMBERS("bad_axis"),
    .testcases =
        (const struct nvbw_testcase *const[]){ &testcase, &bad_testcase, NULL },
};
