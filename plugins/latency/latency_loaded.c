/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The time of one load while others read over the same way: a curve over the
 * load that is offered, which is reads by SMs of the same GPU, at a part of the
 * rate that they reach alone. */
#include <stdio.h>
#include <string.h>

#include "latency.h"

enum { PERMILLE = 10 /* of a percent */ };

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
static const struct nvbw_param distance_param = {
    .size = sizeof distance_param,
    .type = NVBW_TYPE_INT,
    .name = "distance",
    .help =
        "GPU i reads the memory of GPU i + distance of those selected, round "
        "and round.",
    .default_text = "1",
    .min_text = "1",
    .max_text = "1023",
};
static const struct nvbw_param *const params[] = { &latency_footprint_param,
    &loads_param, NULL };
static const struct nvbw_param *const peer_params[] = {
    &latency_footprint_param, &loads_param, &distance_param, NULL
};

/* ---- Metrics ------------------------------------------------------------ */

#define METRIC(symbol, flags_, unit_, better_, name_, help_)                   \
    static const struct nvbw_metric symbol = { .size = sizeof symbol,          \
        .flags = (flags_),                                                     \
        .unit = (unit_),                                                       \
        .better = (better_),                                                   \
        .name = (name_),                                                       \
        .help = (help_),                                                       \
        .rows = "loads",                                                       \
        .cols = "gpu" };
METRIC(latency, 0, NVBW_UNIT_NANOSECONDS, NVBW_LOWER, "latency",
    "Time of one load by this GPU beside the row's load; the median of the "
    "samples, so their p50.")
METRIC(p90, NVBW_METRIC_DERIVED, NVBW_UNIT_NANOSECONDS, NVBW_LOWER, "p90",
    "What 90 % of the samples do not exceed; needs 10 samples.")
METRIC(p99, NVBW_METRIC_DERIVED, NVBW_UNIT_NANOSECONDS, NVBW_LOWER, "p99",
    "What 99 % of the samples do not exceed; needs 100 samples.")
METRIC(rate, 0, NVBW_UNIT_BYTES_PER_SECOND, NVBW_HIGHER, "rate",
    "What the load really moved while latency was taken.")
static const struct nvbw_metric *const metrics[] = { &latency, &p90, &p99,
    &rate, NULL };

static const struct percentile {
    const char *metric;
    double q;
    int64_t samples; /* fewer do not tell */
} percentiles[] = { { "p90", 0.90, 10 }, { "p99", 0.99, 100 } };

/* ---- Running ------------------------------------------------------------ */

/* A cell's place: whose GPU follows, whose memory, which load. */
struct point {
    uint32_t row, gpu, memory_gpu;
};

static uint64_t load_of(struct nvbw_ctx *ctx, uint32_t row)
{
    return (uint64_t)ctx->host->param_int(ctx, "loads", row);
}

static struct nvbw_flow flow_of(struct nvbw_ctx *ctx, const struct point *point)
{
    const enum where *const where = ctx->testcase->user;
    const struct nvbw_flow flow = { .size = sizeof flow,
        .initiator = NVBW_BY_SM,
        .src_memory = *where == ON_HOST ? NVBW_MEM_PINNED : NVBW_MEM_DEVICE,
        .src_place = *where == ON_HOST ? NVBW_NEAR : (int32_t)point->memory_gpu,
        .executor = (int32_t)point->gpu };

    return flow;
}

static int32_t measure(struct nvbw_ctx *ctx,
    const struct nvbw_place *const *gpus, const struct point *point)
{
    const enum where *const where = ctx->testcase->user;
    const struct nvbw_cell cell = NVBW_CELL("latency", point->row, point->gpu);
    const struct nvbw_cell total = NVBW_CELL("rate", point->row, point->gpu);
    const uint64_t percent = load_of(ctx, point->row);
    struct nvbw_flow chase = flow_of(ctx, point);
    struct nvbw_flow load = flow_of(ctx, point);
    const struct nvbw_flow *const flows[] = { &chase,
        percent > 0 ? &load : NULL, NULL };
    const struct nvbw_measurement measurement = { .size = sizeof measurement,
        .flows = flows,
        .total = percent > 0 ? &total : NULL };

    chase.operation = NVBW_OP_CHASE;
    chase.bytes = latency_footprint(
        ctx, *where, ORDER_RANDOM, gpus[point->gpu], gpus[point->memory_gpu]);
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

static uint32_t memory_gpu_of(
    struct nvbw_ctx *ctx, uint32_t gpu, uint32_t count)
{
    const enum where *const where = ctx->testcase->user;

    return *where != ON_PEER
               ? gpu
               : (gpu + (uint32_t)ctx->host->param_int(ctx, "distance", 0)) %
                     count;
}

static int32_t run(struct nvbw_ctx *ctx)
{
    const enum where *const where = ctx->testcase->user;
    const struct nvbw_place *const *const gpus = ctx->host->places(ctx, "gpu");
    const uint32_t loads = ctx->host->param_count(ctx, "loads");
    uint32_t count = 0;

    while (gpus[count] != NULL) {
        count++;
    }
    for (uint32_t i = 0; i < count * loads; i++) {
        const struct point point = { i % loads, i / loads,
            memory_gpu_of(ctx, i / loads, count) };
        const int is_none = *where == ON_PEER && point.memory_gpu == point.gpu;
        const int32_t status =
            is_none ? skip_point(ctx, &point) : run_point(ctx, gpus, &point);

        if (status < 0) {
            return status;
        }
    }
    return NVBW_OK;
}

/* ---- Testcases ---------------------------------------------------------- */

static const struct nvbw_needs one_gpu = { .size = sizeof one_gpu,
    .min_gpus = 1 };
static const struct nvbw_needs two_gpus = {
    .size = sizeof two_gpus, .features = NVBW_NEED_PEER, .min_gpus = 2
};
static const enum where on_host = ON_HOST;
static const enum where on_peer = ON_PEER;
static const enum where on_itself = ON_ITSELF;
static const char *const tags_host[] = { "host", "latency", "loaded", NULL };
static const char *const tags_peer[] = { "peer", "latency", "loaded", NULL };
static const char *const tags_local[] = { "local", "latency", "loaded", NULL };

#define ABOUT                                                                  \
    "One thread of one SM follows a random chain (as chase = \"random\" "      \
    "does, "                                                                   \
    "whatever the plan says) while the SMs of the same GPU, with half of the " \
    "threads that they hold, read other memory at the same place. How fast "   \
    "they are alone is measured first, for each cell; then they are paced to " \
    "the row's percent of it, evenly, each tile of 16 KiB at its time. "       \
    "`rate` "                                                                  \
    "is what came of it while the chain was followed, less than was offered "  \
    "where the two get into each other's way or the way is full. That the "    \
    "load "                                                                    \
    "outlasted each sample is proved as for all background traffic.\n\n"       \
    "A sample is a stretch of 16 thousand loads or more, and figures are of "  \
    "samples: percentiles are over stretches. They show how latency wavers "   \
    "from one stretch to the next, not how single loads differ.\n\n"           \
    "buffer_size and chase have no effect. Verified: of the chain every "      \
    "link, "                                                                   \
    "and where each walk ends; of the load the sum of what was read."

#define TESTCASE(name_, where_, tags_, needs_, params_, summary_)              \
    const struct nvbw_testcase name_ = { .size = sizeof name_,                 \
        .name = #name_,                                                        \
        .summary = summary_,                                                   \
        .help = ABOUT,                                                         \
        .tags = tags_,                                                         \
        .needs = &needs_,                                                      \
        .params = params_,                                                     \
        .metrics = metrics,                                                    \
        .user = &where_,                                                       \
        .run = run };
TESTCASE(host_device_latency_loaded, on_host, tags_host, one_gpu, params,
    "Latency of host memory for loads by each GPU, beside reads of it.")
TESTCASE(device_to_device_latency_loaded, on_peer, tags_peer, two_gpus,
    peer_params,
    "Latency of another GPU's memory for loads by each GPU, beside reads of "
    "it.")
TESTCASE(device_local_latency_loaded, on_itself, tags_local, one_gpu, params,
    "Latency of each GPU's own memory for loads, beside reads of it.")
