/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* sm_h2d: between host and GPU by kernels, with nvbandwidth's names and
 * meaning. One run() serves all; a testcase is its row of traffic. */
#include "nvbw/plugin.h"

#include "host_traffic.h"

static const struct host_mover mover = { NVBW_BY_SM, NVBW_MEM_PINNED, 1 };

static int32_t run(struct nvbw_ctx *ctx)
{
    return host_traffic_run(ctx, ctx->testcase->user, &mover);
}

static const char *const tags[] = { "host", "sm", "bandwidth", NULL };

#define HELP_MEMORY                                                            \
    "The host's memory is page-locked and on the NUMA node nearest to each "   \
    "GPU. Bytes are moved by a kernel on a few of the GPU's multiprocessors, " \
    "16 at a time."

static const char help_near[] = HELP_MEMORY;
static const char help_behind[] =
    "One direction of one GPU is measured while the same runs behind it on "
    "all others for as long; it is proved that they did. " HELP_MEMORY;
static const char help_split[] =
    "One kernel copies both ways at once: each of its warps takes turns, and "
    "half of them go each way. The figure is half of what it "
    "moves. " HELP_MEMORY;

static const char help_split_behind[] =
    "One kernel a GPU copies both ways at once: each of its warps takes turns, "
    "and half of them go each way. The figure is half of what the measured "
    "GPU's moves while those of all "
    "others run behind it for as long; it is proved that they "
    "did. " HELP_MEMORY;

/* X(name, to_gpu, both_ways, all_gpus, metrics, help, summary) */
#define TESTCASES(X)                                                           \
    X(host_to_device_memcpy_sm, 1, 0, 0, host_metrics_alone, help_near,        \
        "Host to each GPU in turn.")                                           \
    X(device_to_host_memcpy_sm, 0, 0, 0, host_metrics_alone, help_near,        \
        "Each GPU in turn to the host.")                                       \
    X(host_to_device_bidirectional_memcpy_sm, 1, 1, 0, host_metrics_together,  \
        help_split, "Host to each GPU in turn while it copies back.")          \
    X(device_to_host_bidirectional_memcpy_sm, 0, 1, 0, host_metrics_together,  \
        help_split,                                                            \
        "Each GPU in turn to the host while the host copies back.")            \
    X(all_to_host_memcpy_sm, 0, 0, 1, host_metrics_together, help_behind,      \
        "Each GPU to the host while all others do the same.")                  \
    X(all_to_host_bidirectional_memcpy_sm, 0, 1, 1, host_metrics_together,     \
        help_split_behind,                                                     \
        "Each GPU to the host while all GPUs copy both ways.")                 \
    X(host_to_all_memcpy_sm, 1, 0, 1, host_metrics_together, help_behind,      \
        "The host to each GPU while it copies to all others.")                 \
    X(host_to_all_bidirectional_memcpy_sm, 1, 1, 1, host_metrics_together,     \
        help_split_behind,                                                     \
        "The host to each GPU while all GPUs copy both ways.")

#define TESTCASE(name_, to_gpu_, both_, all_, metrics_, help_, summary_)       \
    static const struct host_traffic traffic_##name_ = { to_gpu_, both_,       \
        all_ };                                                                \
    static const struct nvbw_testcase name_ = { .size = sizeof name_,          \
        .name = #name_,                                                        \
        .summary = summary_,                                                   \
        .help = help_,                                                         \
        .tags = tags,                                                          \
        .needs = &host_needs,                                                  \
        .metrics = metrics_,                                                   \
        .user = &traffic_##name_,                                              \
        .run = run };
TESTCASES(TESTCASE)

#define TESTCASE_POINTER(                                                      \
    name_, to_gpu_, both_, all_, metrics_, help_, summary_)                    \
    &name_,
static const struct nvbw_testcase *const testcases[] = { TESTCASES(
    TESTCASE_POINTER) NULL };

const struct nvbw_plugin nvbw_plugin_v1 = { .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "sm_h2d",
    .version = "1.0.0",
    .summary = "Between host and GPU by kernels.",
    .licence = "Apache-2.0",
    .testcases = testcases };
