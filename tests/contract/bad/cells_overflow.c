/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Two metrics of a million cells each: no such unit is made (rule C11). */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    return settle(ctx, 0);
}

BAD_TESTCASE("cells_overflow_other", "1", run);
static const struct nvbw_param side = {
    .size = sizeof side,
    .type = NVBW_TYPE_INT,
    .name = "side",
    .help = "Entries of each axis.",
    .default_text = "1024",
    .min_text = "1",
};
#define METRIC(name_)                                                          \
    {                                                                          \
        .size = sizeof(struct nvbw_metric), .unit = NVBW_UNIT_COUNT,           \
        .better = NVBW_HIGHER, .name = (name_), .rows = "#side",               \
        .cols = "#side"                                                        \
    }
static const struct nvbw_metric vast[] = { METRIC("a"), METRIC("b") };
static const struct nvbw_testcase testcase = {
    .size = sizeof testcase,
    .name = "cells_overflow",
    .summary = "Breaks one rule.",
    .params = (const struct nvbw_param *const[]){ &side, NULL },
    .metrics = (const struct nvbw_metric *const[]){ &vast[0], &vast[1], NULL },
    .run = run,
};
#pragma GCC diagnostic ignored "-Woverride-init"
const struct nvbw_plugin nvbw_plugin_v1 = {
    BAD_MEMBERS("cells_overflow"),
    .testcases = (const struct nvbw_testcase *const[]){ &testcase, NULL },
};
