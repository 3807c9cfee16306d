/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* ce_h2d: between host and GPU by the copy engine. */
#include "host_testcases.h"

static int32_t run_hosts(struct nvbw_ctx *ctx)
{
    static const struct host_mover mover = { NVBW_BY_CE, NVBW_MEM_PINNED, 0 };

    return host_traffic_run(ctx, ctx->testcase->user, &mover);
}

static const char *const host_tags[] = { "host", "ce", "bandwidth", NULL };

#define HOST_MOVED " Bytes are moved by cuMemcpyAsync."
#define HOST_HELP_BOTH                                                         \
    "One direction is measured while the other runs behind it for as long; "   \
    "it is proved that it did. "

HOST_TESTCASES(HOST_DEFINE, ce)

static const struct nvbw_testcase *const testcases[] = { HOST_TESTCASES(
    HOST_LIST, ce) NULL };

const struct nvbw_plugin nvbw_plugin_v1 = { .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "ce_h2d",
    .version = "1.0.0",
    .summary = "Between host and GPU by the copy engine.",
    .licence = "Apache-2.0",
    .testcases = testcases };
