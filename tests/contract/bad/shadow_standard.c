/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Declares a parameter that every testcase has already (rule C10). */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    return settle(ctx, 0);
}

static const struct nvbw_param shadow = {
    .size = sizeof shadow,
    .type = NVBW_TYPE_SIZE,
    .name = "buffer_size",
    .help = "Mine.",
    .default_text = "1 MiB",
};
static const struct nvbw_metric figure = {
    .size = sizeof figure,
    .unit = NVBW_UNIT_COUNT,
    .better = NVBW_HIGHER,
    .name = "figure",
};
static const struct nvbw_testcase testcase = {
    .size = sizeof testcase,
    .name = "shadow_standard",
    .summary = "Breaks one rule.",
    .params = (const struct nvbw_param *const[]){ &shadow, NULL },
    .metrics = (const struct nvbw_metric *const[]){ &figure, NULL },
    .run = run,
};
const struct nvbw_plugin nvbw_plugin_v1 = {
    .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "shadow_standard",
    .version = "1.0.0",
    .testcases = (const struct nvbw_testcase *const[]){ &testcase, NULL },
};
