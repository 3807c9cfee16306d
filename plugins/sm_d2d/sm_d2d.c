/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* sm_d2d: between GPUs by kernels, with nvbandwidth's names and meaning, but
 * for two: its all_to_one_read_sm and one_to_all_read_sm run on the source and
 * so write, ours read. One run() serves all; a testcase is its row of
 * traffic. */
#include "nvbw/plugin.h"

#include "peer_traffic.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    return peer_traffic_run_kernels(ctx, ctx->testcase->user, NVBW_BY_SM);
}

static const char *const tags[] = { "peer", "sm", "bandwidth", NULL };

#define HELP_ACCESS                                                            \
    " Bytes are moved by a kernel, 16 at a time, over peer access that a "     \
    "kernel has proved before; without access there is nothing to measure, "   \
    "so p2p = \"off\" skips it."

static const char help_read[] =
    "A kernel on the GPU of the row reads from the GPU of the "
    "column." HELP_ACCESS;
static const char help_write[] =
    "A kernel on the GPU of the row writes to the GPU of the "
    "column." HELP_ACCESS;
static const char help_both[] =
    "Kernels on both GPUs of a pair act on each other at once; forward is what "
    "goes from row to column." HELP_ACCESS;
static const char help_team[] =
    "All flows of one GPU with all others at once; the figure is the sum. "
    "Kernels of one GPU share its multiprocessors, and it is proved that they "
    "ran together. A GPU that cannot address all others is "
    "skipped." HELP_ACCESS;

/* X(name, shape, reads, metrics, help, summary) */
#define TESTCASES(X)                                                           \
    X(device_to_device_memcpy_read_sm, PEER_PAIR, 1, peer_metrics_pair,        \
        help_read, "Each GPU reads from each other one in turn.")              \
    X(device_to_device_memcpy_write_sm, PEER_PAIR, 0, peer_metrics_pair,       \
        help_write, "Each GPU writes to each other one in turn.")              \
    X(device_to_device_bidirectional_memcpy_read_sm, PEER_BOTH_WAYS, 1,        \
        peer_metrics_both_ways, help_both,                                     \
        "The two GPUs of each pair read from each other at once.")             \
    X(device_to_device_bidirectional_memcpy_write_sm, PEER_BOTH_WAYS, 0,       \
        peer_metrics_both_ways, help_both,                                     \
        "The two GPUs of each pair write to each other at once.")              \
    X(all_to_one_write_sm, PEER_ALL_TO_ONE, 0, peer_metrics_team, help_team,   \
        "All other GPUs write to each GPU in turn.")                           \
    X(all_to_one_read_sm, PEER_ALL_TO_ONE, 1, peer_metrics_team, help_team,    \
        "All other GPUs read from each GPU in turn.")                          \
    X(one_to_all_write_sm, PEER_ONE_TO_ALL, 0, peer_metrics_team, help_team,   \
        "Each GPU in turn writes to all others.")                              \
    X(one_to_all_read_sm, PEER_ONE_TO_ALL, 1, peer_metrics_team, help_team,    \
        "Each GPU in turn reads from all others.")

#define TESTCASE(name_, shape_, reads_, metrics_, help_, summary_)             \
    static const struct peer_traffic traffic_##name_ = { shape_, reads_ };     \
    static const struct nvbw_testcase name_ = { .size = sizeof name_,          \
        .name = #name_,                                                        \
        .summary = summary_,                                                   \
        .help = help_,                                                         \
        .tags = tags,                                                          \
        .needs = &peer_needs,                                                  \
        .metrics = metrics_,                                                   \
        .user = &traffic_##name_,                                              \
        .run = run };
TESTCASES(TESTCASE)

#define TESTCASE_POINTER(name_, shape_, reads_, metrics_, help_, summary_)     \
    &name_,
static const struct nvbw_testcase *const testcases[] = { TESTCASES(
    TESTCASE_POINTER) NULL };

const struct nvbw_plugin nvbw_plugin_v1 = { .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "sm_d2d",
    .version = "1.0.0",
    .summary = "Between GPUs by kernels.",
    .licence = "Apache-2.0",
    .testcases = testcases };
