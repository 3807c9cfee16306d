/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "local_traffic.h"

static const struct nvbw_metric bandwidth_metric = {
    .size = sizeof bandwidth_metric,
    .unit = NVBW_UNIT_BYTES_PER_SECOND,
    .better = NVBW_HIGHER,
    .name = "bandwidth",
    .help = "Bytes copied, read or written, each counted once.",
    .cols = "gpu",
};
static const struct nvbw_metric traffic_metric = {
    .size = sizeof traffic_metric,
    .flags = NVBW_METRIC_DERIVED,
    .unit = NVBW_UNIT_BYTES_PER_SECOND,
    .better = NVBW_HIGHER,
    .name = "traffic",
    .help = "Bytes read and written: twice the bandwidth.",
    .cols = "gpu",
};
const struct nvbw_metric *const local_metrics_copy[] = { &bandwidth_metric,
    &traffic_metric, NULL };
const struct nvbw_metric *const local_metrics_one_sided[] = { &bandwidth_metric,
    NULL };
const struct nvbw_needs local_needs = { .size = sizeof local_needs,
    .min_gpus = 1 };

/* A copy's bytes cross the memory twice. */
#define COPY_TRAFFIC 2.0

static int has_source(const struct local_work *work)
{
    return work->operation != NVBW_OP_WRITE;
}

static int has_destination(const struct local_work *work)
{
    return work->operation != NVBW_OP_READ;
}

/* Settles the cell of `traffic` with twice the figure of that of `bandwidth`,
 * or as that one where it has none. */
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

static int32_t measure_gpu(
    struct nvbw_ctx *ctx, const struct local_work *work, uint32_t gpu)
{
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

int32_t local_traffic_run(struct nvbw_ctx *ctx, const struct local_work *work)
{
    const struct nvbw_place *const *const gpus = ctx->host->places(ctx, "gpu");

    for (uint32_t gpu = 0; gpus[gpu] != NULL; gpu++) {
        const int32_t status = measure_gpu(ctx, work, gpu);

        if (status < 0) {
            return status;
        }
    }
    return NVBW_OK;
}
