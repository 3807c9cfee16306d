/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* ce_h2d: between host and GPU by the copy engine, with nvbandwidth's names
 * and meaning. One run() serves all; a testcase is its row of traffic. */
#include "nvbw/plugin.h"

#include "host_traffic.h"

static const struct host_mover mover = { NVBW_BY_CE, NVBW_MEM_PINNED, 0 };

static int32_t run(struct nvbw_ctx *ctx)
{
    return host_traffic_run(ctx, ctx->testcase->user, &mover);
}

static const char *const tags[] = { "host", "ce", "bandwidth", NULL };

static const char help_near[] =
    "The host's memory is page-locked and on the NUMA node nearest to the "
    "GPU. Bytes are moved by cuMemcpyAsync.";
static const char help_behind[] =
    "One direction of one GPU is measured while the other flows run behind "
    "it for as long; it is proved that they did. The host's memory is "
    "page-locked and on the NUMA node nearest to each GPU.";

/* X(name, to_gpu, both_ways, all_gpus, metrics, help, summary) */
#define TESTCASES(X)                                                           \
    X(host_to_device_memcpy_ce, 1, 0, 0, host_metrics_alone, help_near,        \
        "Host to each GPU in turn.")                                           \
    X(device_to_host_memcpy_ce, 0, 0, 0, host_metrics_alone, help_near,        \
        "Each GPU in turn to the host.")                                       \
    X(host_to_device_bidirectional_memcpy_ce, 1, 1, 0, host_metrics_together,  \
        help_behind, "Host to each GPU in turn while it copies back.")         \
    X(device_to_host_bidirectional_memcpy_ce, 0, 1, 0, host_metrics_together,  \
        help_behind,                                                           \
        "Each GPU in turn to the host while the host copies back.")            \
    X(all_to_host_memcpy_ce, 0, 0, 1, host_metrics_together, help_behind,      \
        "Each GPU to the host while all others do the same.")                  \
    X(all_to_host_bidirectional_memcpy_ce, 0, 1, 1, host_metrics_together,     \
        help_behind, "Each GPU to the host while all GPUs copy both ways.")    \
    X(host_to_all_memcpy_ce, 1, 0, 1, host_metrics_together, help_behind,      \
        "The host to each GPU while it copies to all others.")                 \
    X(host_to_all_bidirectional_memcpy_ce, 1, 1, 1, host_metrics_together,     \
        help_behind, "The host to each GPU while all GPUs copy both ways.")

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
    .name = "ce_h2d",
    .version = "1.0.0",
    .summary = "Between host and GPU by the copy engine.",
    .licence = "Apache-2.0",
    .testcases = testcases };
