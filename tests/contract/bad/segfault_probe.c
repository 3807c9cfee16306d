/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "bad_plugin.h"

static int32_t probe(struct nvbw_ctx *ctx)
{
    volatile int *const nowhere = NULL;
    (void)ctx;
    *nowhere = 1;
    return NVBW_OK;
}

static int32_t run(struct nvbw_ctx *ctx)
{
    return settle(ctx, 0);
}

BAD_TESTCASE("segfault_probe", "1", run);
static const struct nvbw_metric *const metrics[] = { &bad_figure, NULL };
static const struct nvbw_param *const params[] = { &bad_cells, NULL };
static const struct nvbw_testcase probed = {
    .size = sizeof probed,
    .name = "segfault_probe",
    .summary = "Breaks one rule.",
    .params = params,
    .metrics = metrics,
    .probe = probe,
    .run = run,
};
#pragma GCC diagnostic ignored "-Woverride-init"
const struct nvbw_plugin nvbw_plugin_v1 = { BAD_MEMBERS("segfault_probe"),
    .testcases = (const struct nvbw_testcase *const[]){ &probed, NULL } };
