/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Built from a later header whose struct has grown: the reader takes the part
 * that it knows (rule C4). */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    return settle(ctx, 0);
}

BAD_TESTCASE("size_newer", "1", run);
static const struct nvbw_metric *const metrics[] = { &bad_figure, NULL };
static const struct nvbw_param *const params[] = { &bad_cells, NULL };
static const struct {
    struct nvbw_testcase known;
    uint64_t later[4];
} grown = {
    .known = { .size = sizeof grown,
        .name = "size_newer",
        .summary = "Has grown.",
        .params = params,
        .metrics = metrics,
        .run = run },
    .later = { 1, 2, 3, 4 },
};
static const struct nvbw_testcase *const testcases[] = { &grown.known, NULL };
#pragma GCC diagnostic ignored "-Woverride-init"
const struct nvbw_plugin nvbw_plugin_v1 = { BAD_MEMBERS("size_newer"),
    .testcases = testcases };
