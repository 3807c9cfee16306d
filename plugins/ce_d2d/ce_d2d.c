/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* ce_d2d: between GPUs by the copy engine. */
#include "peer_testcases.h"

static int32_t run_peers(struct nvbw_ctx *ctx)
{
    const int64_t p2p = ctx->host->param_int(ctx, "p2p", 0);
    const struct peer_mover mover = { NVBW_BY_CE,
        p2p == PEER_P2P_OFF ? NVBW_FLOW_STAGED : 0, NULL };

    return peer_traffic_run(ctx, ctx->testcase->user, &mover);
}

static const char *const peer_tags[] = { "peer", "ce", "bandwidth", NULL };
static const struct nvbw_needs needs_peers = PEER_NEEDS(0);

#define PEER_MOVED                                                             \
    " Bytes are moved by cuMemcpyAsync over peer access, which a kernel has "  \
    "proved before; with p2p = \"off\" access is left off and the driver "     \
    "stages the copies through the host."

PEER_PAIRS(PEER_DEFINE, ce)
PEER_TEAMS(PEER_DEFINE, ce)

static const struct nvbw_testcase *const testcases[] = { PEER_PAIRS(
    PEER_LIST, ce) PEER_TEAMS(PEER_LIST, ce) NULL };

const struct nvbw_plugin nvbw_plugin_v1 = { .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "ce_d2d",
    .version = "1.0.0",
    .summary = "Between GPUs by the copy engine.",
    .licence = "Apache-2.0",
    .testcases = testcases };
