/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* More labels than an axis can have (rule C11). */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    static const char *names[20001];
    for (uint32_t i = 0; i < 20000; i++) {
        names[i] = "label";
    }
    return ctx->host->labels(ctx, "named", 1, names);
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
    .name = "labels_many",
    .summary = "Breaks one rule.",
    .metrics = (const struct nvbw_metric *const[]){ &named, NULL },
    .run = run,
};
const struct nvbw_plugin nvbw_plugin_v1 = {
    .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "labels_many",
    .version = "1.0.0",
    .testcases = (const struct nvbw_testcase *const[]){ &testcase, NULL },
};
