/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* One of many plugins that only stand in a list. BENCH_NUMBER is its own. */
#include "nvbw/plugin.h"

static int32_t run_nothing(struct nvbw_ctx *ctx)
{
    const double value = 1.0;
    const struct nvbw_cell cell = NVBW_CELL("figure", 0, 0);

    return ctx->host->put(ctx, &cell, &value, 1);
}

static const struct nvbw_metric figure = {
    .size = sizeof figure,
    .unit = NVBW_UNIT_COUNT,
    .better = NVBW_HIGHER,
    .name = "figure",
    .help = "Always 1.",
};
static const struct nvbw_testcase nothing = {
    .size = sizeof nothing,
    .name = "bench_" BENCH_NUMBER,
    .summary = "Settles one cell.",
    .help = "Stands in a list.",
    .metrics = (const struct nvbw_metric *const[]){ &figure, NULL },
    .run = run_nothing,
};

const struct nvbw_plugin nvbw_plugin_v1 = {
    .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "bench_" BENCH_NUMBER,
    .version = "1.0.0",
    .summary = "One of many.",
    .licence = "Apache-2.0",
    .testcases = (const struct nvbw_testcase *const[]){ &nothing, NULL },
};
