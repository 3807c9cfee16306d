/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Ten thousand parameters with 64 KiB of help each: more than a frame can
 * carry (rule C2). */
#include "bad_plugin.h"

#include <stdio.h>
#include <string.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    return settle(ctx, 0);
}

static struct nvbw_param params[9999];
static const struct nvbw_param *list[10000];
static char names[9999][16];
static char help[65536];

__attribute__((constructor)) static void fill(void)
{
    memset(help, 'h', sizeof help - 1);
    for (uint32_t i = 0; i < 9999; i++) {
        (void)snprintf(names[i], sizeof names[i], "p%u", i);
        params[i] = (struct nvbw_param){ .size = sizeof params[i],
            .type = NVBW_TYPE_TEXT,
            .name = names[i],
            .help = help,
            .default_text = "" };
        list[i] = &params[i];
    }
}

BAD_TESTCASE("params_many_other", "1", run);
static const struct nvbw_testcase testcase = {
    .size = sizeof testcase,
    .name = "params_many",
    .summary = "Breaks one rule.",
    .params = list,
    .metrics = (const struct nvbw_metric *const[]){ &bad_figure, NULL },
    .run = run,
};
#pragma GCC diagnostic ignored "-Woverride-init"
const struct nvbw_plugin nvbw_plugin_v1 = {
    BAD_MEMBERS("params_many"),
    .testcases = (const struct nvbw_testcase *const[]){ &testcase, NULL },
};
