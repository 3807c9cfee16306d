/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* sm_d2d: between GPUs by kernels. Two testcases differ from nvbandwidth's:
 * its all_to_one_read_sm and one_to_all_read_sm run on the source and so
 * write, ours read. */
#include "peer_testcases.h"

static int32_t run_peers(struct nvbw_ctx *ctx)
{
    return peer_traffic_run_kernels(ctx, ctx->testcase->user, NVBW_BY_SM);
}

static const char *const peer_tags[] = { "peer", "sm", "bandwidth", NULL };
static const struct nvbw_needs needs_peers = PEER_NEEDS(0);

#define PEER_MOVED                                                             \
    " Bytes are moved by a kernel, 16 at a time, over peer access that a "     \
    "kernel has proved before; without access there is nothing to measure, "   \
    "so p2p = \"off\" skips it. Kernels of one GPU share its "                 \
    "multiprocessors, and it is proved that they ran together."

PEER_PAIRS(PEER_DEFINE, sm)
PEER_TEAMS(PEER_DEFINE, sm)

static const struct nvbw_testcase *const testcases[] = { PEER_PAIRS(
    PEER_LIST, sm) PEER_TEAMS(PEER_LIST, sm) NULL };

const struct nvbw_plugin nvbw_plugin_v1 = { .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "sm_d2d",
    .version = "1.0.0",
    .summary = "Between GPUs by kernels.",
    .licence = "Apache-2.0",
    .testcases = testcases };
