/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "chase_loaded.h"

#include <stdio.h>
#include <string.h>

enum { PERMILLE = 10 /* of a percent */ };

/* ---- Parameters --------------------------------------------------------- */

static const struct nvbw_param loads_param = {
    .size = sizeof loads_param,
    .flags = NVBW_PARAM_LIST,
    .type = NVBW_TYPE_INT,
    .name = "loads",
    .help =
        "Loads that are offered, in percent of the rate that the same reads "
        "reach alone; 0: none.",
    .default_text = "0, 25, 50, 75, 90, 100",
    .min_text = "0",
    .max_text = "100",
};

#define DISTANCE(symbol, help_)                                                \
    static const struct nvbw_param symbol = { .size = sizeof symbol,           \
        .type = NVBW_TYPE_INT,                                                 \
        .name = "distance",                                                    \
        .help = help_,                                                         \
        .default_text = "1",                                                   \
        .min_text = "1",                                                       \
        .max_text = "1023" };
DISTANCE(distance_param,
    "GPU i reads the memory of GPU i + distance of those selected, round "
    "and round.")
DISTANCE(rank_distance_param,
    "Rank i reads the memory of rank i + distance, round and round.")

const struct nvbw_param *const chase_loaded_params[] = { &chase_footprint_param,
    &loads_param, NULL };
const struct nvbw_param *const chase_loaded_peer_params[] = {
    &chase_footprint_param, &loads_param, &distance_param, NULL
};
const struct nvbw_param *const chase_loaded_rank_params[] = {
    &chase_footprint_param, &loads_param, &rank_distance_param, NULL
};

/* ---- Metrics ------------------------------------------------------------ */

#define METRIC(symbol, flags_, unit_, better_, name_, help_, cols_)            \
    static const struct nvbw_metric symbol = { .size = sizeof symbol,          \
        .flags = (flags_),                                                     \
        .unit = (unit_),                                                       \
        .better = (better_),                                                   \
        .name = (name_),                                                       \
        .help = help_,                                                         \
        .rows = "loads",                                                       \
        .cols = (cols_) };
/* Columns are of GPUs or of ranks. */
#define METRICS(list, latency, p90, p99, rate, cols_, by_)                     \
    METRIC(latency, 0, NVBW_UNIT_NANOSECONDS, NVBW_LOWER, "latency",           \
        "Time of one load by " by_                                             \
        " beside the row's load; the median of the samples, so their p50.",    \
        cols_)                                                                 \
    METRIC(p90, NVBW_METRIC_DERIVED, NVBW_UNIT_NANOSECONDS, NVBW_LOWER, "p90", \
        "What 90 % of the samples do not exceed; needs 10 samples.", cols_)    \
    METRIC(p99, NVBW_METRIC_DERIVED, NVBW_UNIT_NANOSECONDS, NVBW_LOWER, "p99", \
        "What 99 % of the samples do not exceed; needs 100 samples.", cols_)   \
    METRIC(rate, 0, NVBW_UNIT_BYTES_PER_SECOND, NVBW_HIGHER, "rate",           \
        "What the load really moved while latency was taken.", cols_)          \
    const struct nvbw_metric *const list[] = { &latency, &p90, &p99, &rate,    \
        NULL };
METRICS(chase_loaded_metrics, gpu_latency, gpu_p90, gpu_p99, gpu_rate, "gpu",
    "this GPU")
METRICS(chase_loaded_rank_metrics, rank_latency, rank_p90, rank_p99, rank_rate,
    "rank", "this rank's GPU")

static const struct percentile {
    const char *metric;
    double q;
    int64_t samples; /* fewer do not tell */
} percentiles[] = { { "p90", 0.90, 10 }, { "p99", 0.99, 100 } };

/* ---- Running ------------------------------------------------------------ */

/* A cell's place: whose GPU follows, whose memory, which load. */
struct point {
    const struct chase_loaded *what;
    uint32_t row, gpu, memory_gpu;
};

static uint64_t load_of(struct nvbw_ctx *ctx, uint32_t row)
{
    return (uint64_t)ctx->host->param_int(ctx, "loads", row);
}

static struct nvbw_flow flow_of(const struct point *point)
{
    const struct nvbw_flow flow = { .size = sizeof flow,
        .initiator = NVBW_BY_SM,
        .src_memory = point->what->memory,
        .src_place = point->what->where == ON_HOST ? NVBW_NEAR
                                                   : (int32_t)point->memory_gpu,
        .executor = (int32_t)point->gpu };

    return flow;
}

static int32_t measure(struct nvbw_ctx *ctx,
    const struct nvbw_place *const *gpus, const struct point *point)
{
    const struct nvbw_cell cell = NVBW_CELL("latency", point->row, point->gpu);
    const struct nvbw_cell total = NVBW_CELL("rate", point->row, point->gpu);
    const uint64_t percent = load_of(ctx, point->row);
    struct nvbw_flow chase = flow_of(point);
    struct nvbw_flow load = flow_of(point);
    const struct nvbw_flow *const flows[] = { &chase,
        percent > 0 ? &load : NULL, NULL };
    const struct nvbw_measurement measurement = { .size = sizeof measurement,
        .flows = flows,
        .total = percent > 0 ? &total : NULL };

    chase.operation = NVBW_OP_CHASE;
    chase.bytes = chase_footprint(ctx, point->what->where, ORDER_RANDOM,
        gpus[point->gpu], gpus[point->memory_gpu]);
    chase.cell = &cell;
    load.operation = NVBW_OP_READ;
    load.flags = NVBW_FLOW_BACKGROUND;
    load.load_permille = (uint32_t)percent * PERMILLE;
    return ctx->host->measure(ctx, &measurement);
}

/* Without a load nothing is moved. */
static int32_t settle_rate(struct nvbw_ctx *ctx, const struct point *point)
{
    const struct nvbw_cell cell = NVBW_CELL("rate", point->row, point->gpu);
    const double nothing = 0.0;

    if (load_of(ctx, point->row) > 0 || !ctx->host->wanted(ctx, &cell)) {
        return NVBW_OK;
    }
    return ctx->host->put(ctx, &cell, &nothing, 1);
}

static int64_t samples_least(struct nvbw_ctx *ctx)
{
    const int is_fixed =
        strcmp(ctx->host->param_text(ctx, "mode", 0), "fixed") == 0;

    return ctx->host->param_int(ctx, is_fixed ? "samples" : "min_samples", 0);
}

static int32_t derive(struct nvbw_ctx *ctx, const struct point *point,
    const struct percentile *percentile)
{
    const struct nvbw_cell from = NVBW_CELL("latency", point->row, point->gpu);
    const struct nvbw_cell cell =
        NVBW_CELL(percentile->metric, point->row, point->gpu);
    double value = 0.0;
    char text[160];

    if (!ctx->host->wanted(ctx, &cell)) {
        return NVBW_OK;
    }
    if (samples_least(ctx) < percentile->samples) {
        snprintf(text, sizeof text,
            "fewer than %d samples do not tell a %s: set samples with mode = "
            "\"fixed\", else min_samples",
            (int)percentile->samples, percentile->metric);
        return ctx->host->skip(ctx, &cell, NVBW_SKIP_EXCLUDED, text);
    }
    if (ctx->host->quantile(ctx, &from, percentile->q, &value) != NVBW_OK) {
        return ctx->host->skip(ctx, &cell, NVBW_SKIP_NOT_BUILT,
            "of a latency that has no figure: see there");
    }
    return ctx->host->put(ctx, &cell, &value, 1);
}

static int32_t run_point(struct nvbw_ctx *ctx,
    const struct nvbw_place *const *gpus, const struct point *point)
{
    int32_t status = measure(ctx, gpus, point);

    if (status >= 0) {
        status = settle_rate(ctx, point);
    }
    for (size_t i = 0;
         i < sizeof percentiles / sizeof *percentiles && status >= 0; i++) {
        status = derive(ctx, point, &percentiles[i]);
    }
    return status;
}

/* Where the distance leads back to the GPU itself there is nothing to read. */
static int32_t skip_point(struct nvbw_ctx *ctx, const struct point *point)
{
    const struct nvbw_metric *const *const metrics = ctx->testcase->metrics;
    int32_t status = NVBW_OK;

    for (size_t i = 0; metrics[i] != NULL && status >= 0; i++) {
        const struct nvbw_cell cell =
            NVBW_CELL(metrics[i]->name, point->row, point->gpu);

        if (ctx->host->wanted(ctx, &cell)) {
            status = ctx->host->skip(ctx, &cell, NVBW_SKIP_EXCLUDED,
                "the parameter distance leads back to the GPU itself");
        }
    }
    return status;
}

static uint32_t memory_gpu_of(struct nvbw_ctx *ctx,
    const struct chase_loaded *what, uint32_t gpu, uint32_t count)
{
    return what->where != ON_PEER
               ? gpu
               : (gpu + (uint32_t)ctx->host->param_int(ctx, "distance", 0)) %
                     count;
}

int32_t chase_loaded_run(struct nvbw_ctx *ctx, const struct chase_loaded *what)
{
    const struct nvbw_place *const *const gpus =
        ctx->host->places(ctx, what->axis);
    const uint32_t loads = ctx->host->param_count(ctx, "loads");
    uint32_t count = 0;

    while (gpus[count] != NULL) {
        count++;
    }
    for (uint32_t i = 0; i < count * loads; i++) {
        const struct point point = { what, i % loads, i / loads,
            memory_gpu_of(ctx, what, i / loads, count) };
        const int is_none =
            what->where == ON_PEER && point.memory_gpu == point.gpu;
        const int32_t status =
            is_none ? skip_point(ctx, &point) : run_point(ctx, gpus, &point);

        if (status < 0) {
            return status;
        }
    }
    return NVBW_OK;
}
