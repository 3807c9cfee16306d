/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* local: within the memory of each GPU, with nvbandwidth's names and meaning.
 * One run() serves all; a testcase is its row of work. */
#include "nvbw/plugin.h"

/* A copy's bytes cross the memory twice. */
#define COPY_TRAFFIC 2.0

struct work {
    uint32_t initiator, operation;
};

static int has_source(const struct work *work)
{
    return work->operation != NVBW_OP_WRITE;
}

static int has_destination(const struct work *work)
{
    return work->operation != NVBW_OP_READ;
}

/* Of copies only. Where the bandwidth has no figure the traffic has none
 * either. */
static int32_t derive_traffic(
    struct nvbw_ctx *ctx, const struct nvbw_cell *bandwidth, uint32_t gpu)
{
    const struct nvbw_cell traffic = NVBW_CELL("traffic", 0, gpu);
    double figure = 0.0;

    if (!ctx->host->wanted(ctx, &traffic)) {
        return NVBW_OK;
    }
    if (ctx->host->figure(ctx, bandwidth, &figure) != NVBW_OK) {
        return ctx->host->skip(ctx, &traffic, NVBW_SKIP_NOT_BUILT,
            "computed from the bandwidth, which has no figure: see there");
    }

    const double value = COPY_TRAFFIC * figure;

    return ctx->host->put(ctx, &traffic, &value, 1);
}

static int32_t measure_gpu(struct nvbw_ctx *ctx, uint32_t gpu)
{
    const struct work *const work = ctx->testcase->user;
    const struct nvbw_cell bandwidth = NVBW_CELL("bandwidth", 0, gpu);
    const int src = has_source(work);
    const int dst = has_destination(work);
    const struct nvbw_flow flow = {
        .size = sizeof flow,
        .initiator = work->initiator,
        .operation = work->operation,
        .src_memory = src ? NVBW_MEM_DEVICE : NVBW_MEM_NONE,
        .dst_memory = dst ? NVBW_MEM_DEVICE : NVBW_MEM_NONE,
        .src_place = src ? (int32_t)gpu : 0,
        .dst_place = dst ? (int32_t)gpu : 0,
        .executor = (int32_t)gpu,
        .cell = &bandwidth,
    };
    const struct nvbw_flow *const flows[] = { &flow, NULL };
    const struct nvbw_measurement at_once = { .size = sizeof at_once,
        .flows = flows };
    const int32_t status = ctx->host->measure(ctx, &at_once);

    return status < 0 || !src || !dst ? status
                                      : derive_traffic(ctx, &bandwidth, gpu);
}

static int32_t run(struct nvbw_ctx *ctx)
{
    const struct nvbw_place *const *const gpus = ctx->host->places(ctx, "gpu");

    for (uint32_t gpu = 0; gpus[gpu] != NULL; gpu++) {
        const int32_t status = measure_gpu(ctx, gpu);

        if (status < 0) {
            return status;
        }
    }
    return NVBW_OK;
}

static const struct nvbw_metric bandwidth = {
    .size = sizeof bandwidth,
    .unit = NVBW_UNIT_BYTES_PER_SECOND,
    .better = NVBW_HIGHER,
    .name = "bandwidth",
    .help = "Bytes copied, read or written, each counted once.",
    .cols = "gpu",
};
static const struct nvbw_metric traffic = {
    .size = sizeof traffic,
    .flags = NVBW_METRIC_DERIVED,
    .unit = NVBW_UNIT_BYTES_PER_SECOND,
    .better = NVBW_HIGHER,
    .name = "traffic",
    .help = "Bytes read and written: twice the bandwidth.",
    .cols = "gpu",
};
static const struct nvbw_metric *const copy_metrics[] = { &bandwidth, &traffic,
    NULL };
static const struct nvbw_metric *const one_sided_metrics[] = { &bandwidth,
    NULL };
static const struct nvbw_needs needs = { .size = sizeof needs, .min_gpus = 1 };
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
    X(device_local_copy, NVBW_BY_CE, NVBW_OP_COPY, copy_metrics, help_copy,    \
        "Copies within each GPU by the driver.")                               \
    X(device_local_copy_sm, NVBW_BY_SM, NVBW_OP_COPY, copy_metrics,            \
        help_copy_sm, "Copies within each GPU by a kernel.")                   \
    X(device_local_read_sm, NVBW_BY_SM, NVBW_OP_READ, one_sided_metrics,       \
        help_read, "Each GPU reads its own memory.")                           \
    X(device_local_write_sm, NVBW_BY_SM, NVBW_OP_WRITE, one_sided_metrics,     \
        help_write, "Each GPU writes its own memory.")

#define TESTCASE(name_, initiator_, operation_, metrics_, help_, summary_)     \
    static const struct work work_##name_ = { initiator_, operation_ };        \
    static const struct nvbw_testcase name_ = { .size = sizeof name_,          \
        .name = #name_,                                                        \
        .summary = summary_,                                                   \
        .help = help_,                                                         \
        .tags = tags,                                                          \
        .needs = &needs,                                                       \
        .metrics = metrics_,                                                   \
        .user = &work_##name_,                                                 \
        .run = run };
TESTCASES(TESTCASE)

#define TESTCASE_POINTER(                                                      \
    name_, initiator_, operation_, metrics_, help_, summary_)                  \
    &name_,
static const struct nvbw_testcase *const testcases[] = { TESTCASES(
    TESTCASE_POINTER) NULL };

const struct nvbw_plugin nvbw_plugin_v1 = { .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "local",
    .version = "1.0.0",
    .summary = "Within the memory of each GPU.",
    .licence = "Apache-2.0",
    .testcases = testcases };
