/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A plugin as it was built from the frozen header beside it. Neither is ever
 * changed, and every host must run it. */
#include "nvbw/plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    const struct nvbw_cell cell = NVBW_CELL("figure", 0, 0);
    const double value = 42.0;
    return ctx->host->put(ctx, &cell, &value, 1);
}

static int32_t check(struct nvbw_ctx *ctx)
{
    const uint32_t parts = ctx->host->param_count(ctx, "parts");
    return parts == 0 || ctx->host->param_int(ctx, "parts.bytes", 0) > 0
               ? NVBW_OK
               : ctx->host->refuse(ctx, "parts.bytes", 0, "it has no bytes");
}

static const struct nvbw_param bytes = {
    .size = sizeof bytes,
    .type = NVBW_TYPE_SIZE,
    .name = "bytes",
    .help = "Of the part.",
    .default_text = "1 MiB",
};
static const struct nvbw_param parts = {
    .size = sizeof parts,
    .flags = NVBW_PARAM_LIST,
    .type = NVBW_TYPE_GROUP,
    .name = "parts",
    .help = "Groups of one key.",
    .members = (const struct nvbw_param *const[]){ &bytes, NULL },
};
static const struct nvbw_metric figure = {
    .size = sizeof figure,
    .unit = NVBW_UNIT_COUNT,
    .better = NVBW_HIGHER,
    .name = "figure",
    .help = "Always 42.",
};
static const struct nvbw_testcase testcase = {
    .size = sizeof testcase,
    .name = "frozen_v1_0",
    .summary = "Built from a frozen header.",
    .params = (const struct nvbw_param *const[]){ &parts, NULL },
    .metrics = (const struct nvbw_metric *const[]){ &figure, NULL },
    .run = run,
    .check = check,
};
const struct nvbw_plugin nvbw_plugin_v1 = {
    .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "frozen_v1_0",
    .version = "1.0.0",
    .summary = "Built from a frozen header.",
    .licence = "Apache-2.0",
    .testcases = (const struct nvbw_testcase *const[]){ &testcase, NULL },
};
