/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Choices that are not pairs (rule C10). */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    return settle(ctx, 0);
}

BAD_TESTCASE("odd_choices_other", "1", run);
static const struct nvbw_param odd = {
    .size = sizeof odd,
    .type = NVBW_TYPE_ENUM,
    .name = "odd",
    .default_text = "one",
    .choices = (const char *const[]){ "one", "the first", "two", NULL },
};
static const struct nvbw_testcase testcase = {
    .size = sizeof testcase,
    .name = "odd_choices",
    .summary = "Breaks one rule.",
    .params = (const struct nvbw_param *const[]){ &odd, NULL },
    .metrics = (const struct nvbw_metric *const[]){ &bad_figure, NULL },
    .run = run,
};
#pragma GCC diagnostic ignored "-Woverride-init"
const struct nvbw_plugin nvbw_plugin_v1 = {
    BAD_MEMBERS("odd_choices"),
    .testcases = (const struct nvbw_testcase *const[]){ &testcase, NULL },
};
