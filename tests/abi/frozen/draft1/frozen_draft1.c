/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A plugin as it was built from the frozen header beside it. Neither is ever
 * changed; hosts of the same draft must run it. */
#include "nvbw/plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    const struct nvbw_cell cell = NVBW_CELL("figure", 0, 0);
    const double value = 42.0;
    return ctx->host->put(ctx, &cell, &value, 1);
}

static const struct nvbw_metric figure = {
    .size = sizeof figure,
    .unit = NVBW_UNIT_COUNT,
    .better = NVBW_HIGHER,
    .name = "figure",
    .help = "Always 42.",
};
static const struct nvbw_testcase testcase = {
    .size = sizeof testcase,
    .name = "frozen_draft1",
    .summary = "Built from a frozen header.",
    .metrics = (const struct nvbw_metric *const[]){ &figure, NULL },
    .run = run,
};
const struct nvbw_plugin nvbw_plugin_v1 = {
    .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "frozen_draft1",
    .version = "1.0.0",
    .summary = "Built from a frozen header.",
    .licence = "Apache-2.0",
    .testcases = (const struct nvbw_testcase *const[]){ &testcase, NULL },
};
