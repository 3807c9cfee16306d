/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* local: within the memory of each GPU, with nvbandwidth's names and meaning.
 * One run() serves these; a testcase is its row of work. The operations of
 * STREAM stand in local_stream.c. */
#include "nvbw/plugin.h"

#include "local_stream.h"
#include "local_traffic.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    return local_traffic_run(ctx, ctx->testcase->user);
}

static const char *const tags[] = { "local", "bandwidth", NULL };

#define HELP_SIZE                                                              \
    " A sample touches many times the bytes that the L2 cache holds; a "       \
    "figure "                                                                  \
    "of less carries the flag cache_bound."

static const char help_copy[] =
    "From one buffer of the GPU to another by cuMemcpyAsync." HELP_SIZE;
static const char help_copy_sm[] = "From one buffer of the GPU to another by a "
                                   "kernel, 16 bytes a thread." HELP_SIZE;
static const char help_read[] =
    "A kernel reads a buffer, 64 bytes a thread, and adds up every word: the "
    "sum proves that all of it was read." HELP_SIZE;
static const char help_write[] =
    "A kernel writes a buffer, 16 bytes a thread, with a pattern that is "
    "compared afterwards." HELP_SIZE;

/* X(name, initiator, operation, metrics, help, summary) */
#define TESTCASES(X)                                                           \
    X(device_local_copy, NVBW_BY_CE, NVBW_OP_COPY, local_metrics_copy,         \
        help_copy, "Copies within each GPU by the driver.")                    \
    X(device_local_copy_sm, NVBW_BY_SM, NVBW_OP_COPY, local_metrics_copy,      \
        help_copy_sm, "Copies within each GPU by a kernel.")                   \
    X(device_local_read_sm, NVBW_BY_SM, NVBW_OP_READ, local_metrics_one_sided, \
        help_read, "Each GPU reads its own memory.")                           \
    X(device_local_write_sm, NVBW_BY_SM, NVBW_OP_WRITE,                        \
        local_metrics_one_sided, help_write,                                   \
        "Each GPU writes its own memory.")

#define TESTCASE(name_, initiator_, operation_, metrics_, help_, summary_)     \
    static const struct local_work work_##name_ = { initiator_, operation_ };  \
    static const struct nvbw_testcase name_ = { .size = sizeof name_,          \
        .name = #name_,                                                        \
        .summary = summary_,                                                   \
        .help = help_,                                                         \
        .tags = tags,                                                          \
        .needs = &local_needs,                                                 \
        .metrics = metrics_,                                                   \
        .user = &work_##name_,                                                 \
        .run = run };
TESTCASES(TESTCASE)

#define TESTCASE_POINTER(                                                      \
    name_, initiator_, operation_, metrics_, help_, summary_)                  \
    &name_,
static const struct nvbw_testcase *const testcases[] = {
    TESTCASES(TESTCASE_POINTER) & stream_copy, &stream_scale, &stream_add,
    &stream_triad, &stream_dot, NULL
};

const struct nvbw_plugin nvbw_plugin_v1 = { .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "local",
    .version = "1.1.0",
    .summary = "Within the memory of each GPU.",
    .licence = "Apache-2.0",
    .testcases = testcases };
