/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Labels that are no UTF-8 and would play with a terminal. */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    const struct nvbw_cell first = NVBW_CELL("named", 0, 0);
    const struct nvbw_cell second = NVBW_CELL("named", 0, 1);
    const double value = 1.0;
    (void)ctx->host->labels(ctx, "named", 1,
        (const char *const[]){ "\x1b[31m\xff", "a\tb\n\"c\"", NULL });
    (void)ctx->host->put(ctx, &first, &value, 1);
    return ctx->host->put(ctx, &second, &value, 1);
}

static const struct nvbw_metric named = {
    .size = sizeof named,
    .unit = NVBW_UNIT_COUNT,
    .better = NVBW_HIGHER,
    .name = "named",
    .help = "A number.",
    .cols = "text",
};
static const struct nvbw_testcase testcase = {
    .size = sizeof testcase,
    .name = "labels_binary",
    .summary = "Breaks one rule.",
    .metrics = (const struct nvbw_metric *const[]){ &named, NULL },
    .run = run,
};
const struct nvbw_plugin nvbw_plugin_v1 = {
    .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "labels_binary",
    .version = "1.0.0",
    .testcases = (const struct nvbw_testcase *const[]){ &testcase, NULL },
};
