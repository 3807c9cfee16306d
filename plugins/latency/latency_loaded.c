/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The testcases of latency under load. */
#include "chase_loaded.h"
#include "latency.h"

static const struct nvbw_needs one_gpu = { .size = sizeof one_gpu,
    .min_gpus = 1 };
static const struct nvbw_needs two_gpus = {
    .size = sizeof two_gpus, .features = NVBW_NEED_PEER, .min_gpus = 2
};
static const struct chase_loaded on_host = { ON_HOST, NVBW_MEM_PINNED, "gpu" };
static const struct chase_loaded on_peer = { ON_PEER, NVBW_MEM_DEVICE, "gpu" };
static const struct chase_loaded on_itself = { ON_ITSELF, NVBW_MEM_DEVICE,
    "gpu" };
static const char *const tags_host[] = { "host", "latency", "loaded", NULL };
static const char *const tags_peer[] = { "peer", "latency", "loaded", NULL };
static const char *const tags_local[] = { "local", "latency", "loaded", NULL };

static int32_t run(struct nvbw_ctx *ctx)
{
    return chase_loaded_run(ctx, ctx->testcase->user);
}

#define TESTCASE(name_, where_, tags_, needs_, params_, summary_)              \
    const struct nvbw_testcase name_ = { .size = sizeof name_,                 \
        .name = #name_,                                                        \
        .summary = summary_,                                                   \
        .help = CHASE_LOADED_ABOUT,                                            \
        .tags = tags_,                                                         \
        .needs = &needs_,                                                      \
        .params = params_,                                                     \
        .metrics = chase_loaded_metrics,                                       \
        .user = &where_,                                                       \
        .run = run };
TESTCASE(host_device_latency_loaded, on_host, tags_host, one_gpu,
    chase_loaded_params,
    "Latency of host memory for loads by each GPU, beside reads of it.")
TESTCASE(device_to_device_latency_loaded, on_peer, tags_peer, two_gpus,
    chase_loaded_peer_params,
    "Latency of another GPU's memory for loads by each GPU, beside reads of "
    "it.")
TESTCASE(device_local_latency_loaded, on_itself, tags_local, one_gpu,
    chase_loaded_params,
    "Latency of each GPU's own memory for loads, beside reads of it.")
