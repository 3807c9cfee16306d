/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* tma: between and within GPUs by the bulk-copy engine of each multiprocessor,
 * with nvbandwidth's names and meaning. A testcase is its row of traffic. */
#include "nvbw/plugin.h"

#include "local_traffic.h"
#include "peer_traffic.h"

enum { COMPUTE_LEAST = 90 };

static int32_t run_peers(struct nvbw_ctx *ctx)
{
    return peer_traffic_run_kernels(ctx, ctx->testcase->user, NVBW_BY_TMA);
}

static int32_t run_local(struct nvbw_ctx *ctx)
{
    return local_traffic_run(ctx, ctx->testcase->user);
}

static const struct nvbw_needs needs_peers = { .size = sizeof needs_peers,
    .features = NVBW_NEED_PEER,
    .min_gpus = 2,
    .min_compute = COMPUTE_LEAST };
static const struct nvbw_needs needs_local = {
    .size = sizeof needs_local, .min_gpus = 1, .min_compute = COMPUTE_LEAST
};

static const char *const tags_peers[] = { "peer", "tma", "bandwidth", NULL };
static const char *const tags_local[] = { "local", "tma", "bandwidth", NULL };

#define HELP_BULK                                                              \
    " Bytes go through shared memory by bulk copies (cp.async.bulk), which "   \
    "take no registers and one thread; what is not a multiple of 16 bytes is " \
    "copied plainly. Needs compute capability 9.0."

static const char help_read[] =
    "The GPU of the row reads from the GPU of the column." HELP_BULK;
static const char help_write[] =
    "The GPU of the row writes to the GPU of the column." HELP_BULK;
static const char help_both[] =
    "Both GPUs of a pair act on each other at once; forward is what goes from "
    "row to column." HELP_BULK;
static const char help_local[] =
    "From one buffer of the GPU to another." HELP_BULK;

/* X(name, traffic, kind, metrics, help, summary); kind: peers or local. */
#define TESTCASES(X)                                                           \
    X(device_to_device_memcpy_read_tma, PEERS(PEER_PAIR, 1), peers,            \
        peer_metrics_pair, help_read,                                          \
        "Each GPU reads from each other one in turn.")                         \
    X(device_to_device_memcpy_write_tma, PEERS(PEER_PAIR, 0), peers,           \
        peer_metrics_pair, help_write,                                         \
        "Each GPU writes to each other one in turn.")                          \
    X(device_to_device_bidirectional_memcpy_read_tma,                          \
        PEERS(PEER_BOTH_WAYS, 1), peers, peer_metrics_both_ways, help_both,    \
        "The two GPUs of each pair read from each other at once.")             \
    X(device_to_device_bidirectional_memcpy_write_tma,                         \
        PEERS(PEER_BOTH_WAYS, 0), peers, peer_metrics_both_ways, help_both,    \
        "The two GPUs of each pair write to each other at once.")              \
    X(device_local_copy_tma, LOCAL(NVBW_OP_COPY), local, local_metrics_copy,   \
        help_local, "Copies within each GPU by bulk copies.")

#define PEERS(shape_, reads_)                                                  \
    &(const struct peer_traffic)                                               \
    {                                                                          \
        shape_, reads_                                                         \
    }
#define LOCAL(operation_)                                                      \
    &(const struct local_work)                                                 \
    {                                                                          \
        NVBW_BY_TMA, operation_                                                \
    }

#define TESTCASE(name_, traffic_, kind_, metrics_, help_, summary_)            \
    static const struct nvbw_testcase name_ = { .size = sizeof name_,          \
        .name = #name_,                                                        \
        .summary = summary_,                                                   \
        .help = help_,                                                         \
        .tags = tags_##kind_,                                                  \
        .needs = &needs_##kind_,                                               \
        .metrics = metrics_,                                                   \
        .user = traffic_,                                                      \
        .run = run_##kind_ };
TESTCASES(TESTCASE)

#define TESTCASE_POINTER(name_, traffic_, kind_, metrics_, help_, summary_)    \
    &name_,
static const struct nvbw_testcase *const testcases[] = { TESTCASES(
    TESTCASE_POINTER) NULL };

const struct nvbw_plugin nvbw_plugin_v1 = { .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "tma",
    .version = "1.0.0",
    .summary = "Between and within GPUs by bulk copies.",
    .licence = "Apache-2.0",
    .testcases = testcases };
