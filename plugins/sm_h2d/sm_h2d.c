/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* sm_h2d: between host and GPU by kernels. */
#include "host_testcases.h"

static int32_t run_hosts(struct nvbw_ctx *ctx)
{
    static const struct host_mover mover = { NVBW_BY_SM, NVBW_MEM_PINNED, 1 };

    return host_traffic_run(ctx, ctx->testcase->user, &mover);
}

static const char *const host_tags[] = { "host", "sm", "bandwidth", NULL };

#define HOST_MOVED                                                             \
    " Bytes are moved by a kernel on a few of the GPU's multiprocessors, 16 "  \
    "at a time."
#define HOST_HELP_BOTH                                                         \
    "One kernel a GPU copies both ways at once: each of its warps takes "      \
    "turns, and half of them go each way. The figure is half of what it "      \
    "moves. "

HOST_TESTCASES(HOST_DEFINE, sm)

static const struct nvbw_testcase *const testcases[] = { HOST_TESTCASES(
    HOST_LIST, sm) NULL };

const struct nvbw_plugin nvbw_plugin_v1 = { .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "sm_h2d",
    .version = "1.0.0",
    .summary = "Between host and GPU by kernels.",
    .licence = "Apache-2.0",
    .testcases = testcases };
