/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* tma: between and within GPUs by the bulk-copy engine of each
 * multiprocessor. */
#include "local_traffic.h"
#include "peer_testcases.h"

enum { COMPUTE_LEAST = 90 };

static int32_t run_peers(struct nvbw_ctx *ctx)
{
    return peer_traffic_run_kernels(ctx, ctx->testcase->user, NVBW_BY_TMA);
}

static int32_t run_local(struct nvbw_ctx *ctx)
{
    static const struct local_work work = { NVBW_BY_TMA, NVBW_OP_COPY };

    return local_traffic_run(ctx, &work);
}

static const char *const peer_tags[] = { "peer", "tma", "bandwidth", NULL };
static const char *const local_tags[] = { "local", "tma", "bandwidth", NULL };

static const struct nvbw_needs needs_peers = PEER_NEEDS(COMPUTE_LEAST);
static const struct nvbw_needs needs_local = {
    .size = sizeof needs_local, .min_gpus = 1, .min_compute = COMPUTE_LEAST
};

#define PEER_MOVED                                                             \
    " Bytes go through shared memory by bulk copies (cp.async.bulk), which "   \
    "take no registers and one thread; what is not a multiple of 16 bytes is " \
    "copied plainly. Needs compute capability 9.0."

PEER_PAIRS(PEER_DEFINE, tma)

static const struct nvbw_testcase device_local_copy_tma = {
    .size = sizeof device_local_copy_tma,
    .name = "device_local_copy_tma",
    .summary = "Copies within each GPU by bulk copies.",
    .help = "From one buffer of the GPU to another." PEER_MOVED,
    .tags = local_tags,
    .needs = &needs_local,
    .metrics = local_metrics_copy,
    .run = run_local
};

static const struct nvbw_testcase *const testcases[] = {
    PEER_PAIRS(PEER_LIST, tma) & device_local_copy_tma, NULL
};

const struct nvbw_plugin nvbw_plugin_v1 = { .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "tma",
    .version = "1.0.0",
    .summary = "Between and within GPUs by bulk copies.",
    .licence = "Apache-2.0",
    .testcases = testcases };
