/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "host_traffic.h"

#include <stdlib.h>

static const struct nvbw_metric bandwidth_metric = {
    .size = sizeof bandwidth_metric,
    .unit = NVBW_UNIT_BYTES_PER_SECOND,
    .better = NVBW_HIGHER,
    .name = "bandwidth",
    .help = "Payload of the measured direction of this GPU.",
    .cols = "gpu",
};
static const struct nvbw_metric total_metric = {
    .size = sizeof total_metric,
    .unit = NVBW_UNIT_BYTES_PER_SECOND,
    .better = NVBW_HIGHER,
    .name = "total",
    .help = "Payload of all directions and GPUs at once while this one was "
            "measured.",
    .cols = "gpu",
};
const struct nvbw_metric *const host_metrics_alone[] = { &bandwidth_metric,
    NULL };
const struct nvbw_metric *const host_metrics_together[] = { &bandwidth_metric,
    &total_metric, NULL };
const struct nvbw_needs host_needs = { .size = sizeof host_needs,
    .min_gpus = 1 };

uint32_t host_traffic_most(const struct host_traffic *traffic, uint32_t gpus)
{
    const uint32_t ways = traffic->both_ways ? 2 : 1;

    return traffic->all_gpus ? ways * gpus : ways;
}

static struct nvbw_flow make_flow(
    const struct host_mover *mover, uint32_t gpu, uint32_t to_gpu)
{
    struct nvbw_flow flow = { .size = sizeof flow,
        .initiator = mover->initiator,
        .operation = NVBW_OP_COPY,
        .src_memory = to_gpu ? mover->memory : NVBW_MEM_DEVICE,
        .dst_memory = to_gpu ? NVBW_MEM_DEVICE : mover->memory,
        .src_place = to_gpu ? NVBW_NEAR : (int32_t)gpu,
        .dst_place = to_gpu ? (int32_t)gpu : NVBW_NEAR,
        .executor = (int32_t)gpu };

    return flow;
}

/* The flow that measures, or interferes with, a GPU. */
static void add_flow(struct nvbw_flow *flows, uint32_t *count,
    const struct host_traffic *traffic, const struct host_mover *mover,
    uint32_t gpu)
{
    struct nvbw_flow *const flow = &flows[*count];

    *flow = make_flow(mover, gpu, traffic->to_gpu);
    if (traffic->both_ways && mover->splits) {
        flow->operation = NVBW_OP_SPLIT;
    }
    *count += 1;
}

static void add_way_back(struct nvbw_flow *flows, uint32_t *count,
    const struct host_traffic *traffic, const struct host_mover *mover,
    uint32_t gpu)
{
    if (!traffic->both_ways || mover->splits) {
        return;
    }
    flows[*count] = make_flow(mover, gpu, !traffic->to_gpu);
    flows[*count].flags = NVBW_FLOW_BACKGROUND;
    *count += 1;
}

uint32_t host_traffic_flows(const struct host_traffic *traffic,
    const struct host_mover *mover, uint32_t gpus, uint32_t gpu,
    const struct nvbw_cell *cell, struct nvbw_flow *out_flows)
{
    uint32_t count = 0;

    add_flow(out_flows, &count, traffic, mover, gpu);
    out_flows[0].cell = cell;
    add_way_back(out_flows, &count, traffic, mover, gpu);
    for (uint32_t other = 0; traffic->all_gpus && other < gpus; other++) {
        if (other == gpu) {
            continue;
        }
        add_flow(out_flows, &count, traffic, mover, other);
        out_flows[count - 1].flags = NVBW_FLOW_BACKGROUND;
        add_way_back(out_flows, &count, traffic, mover, other);
    }
    return count;
}

static uint32_t count_places(const struct nvbw_place *const *places)
{
    uint32_t count = 0;

    while (places[count] != NULL) {
        count++;
    }
    return count;
}

/* What measures one GPU, and room for it. */
struct scene {
    const struct host_traffic *traffic;
    const struct host_mover *mover;
    uint32_t gpus;
    struct nvbw_flow *flows;
    const struct nvbw_flow **list;
};

static int32_t measure_gpu(
    struct nvbw_ctx *ctx, const struct scene *scene, uint32_t gpu)
{
    const struct host_traffic *const traffic = scene->traffic;
    const int has_total = traffic->both_ways || traffic->all_gpus;
    const struct nvbw_cell bandwidth = NVBW_CELL("bandwidth", 0, gpu);
    const struct nvbw_cell total = NVBW_CELL("total", 0, gpu);
    const uint32_t count = host_traffic_flows(
        traffic, scene->mover, scene->gpus, gpu, &bandwidth, scene->flows);
    const struct nvbw_measurement at_once = { .size = sizeof at_once,
        .flows = scene->list,
        .total = has_total ? &total : NULL };

    for (uint32_t i = 0; i < count; i++) {
        scene->list[i] = &scene->flows[i];
    }
    scene->list[count] = NULL;
    return ctx->host->measure(ctx, &at_once);
}

int32_t host_traffic_run(struct nvbw_ctx *ctx,
    const struct host_traffic *traffic, const struct host_mover *mover)
{
    const uint32_t gpus = count_places(ctx->host->places(ctx, "gpu"));
    const uint32_t most = host_traffic_most(traffic, gpus);
    const struct scene scene = { traffic, mover, gpus,
        calloc(most + 1, sizeof *scene.flows),
        calloc(most + 1, sizeof *scene.list) };
    int32_t status = NVBW_OK;

    if (scene.flows != NULL && scene.list != NULL) {
        for (uint32_t gpu = 0; gpu < gpus && status >= 0; gpu++) {
            status = measure_gpu(ctx, &scene, gpu);
        }
    } else {
        status = ctx->host->fail(
            ctx, NULL, NVBW_E_SYSTEM, 0, "no memory for the list of flows");
    }
    free(scene.list);
    free(scene.flows);
    return status;
}
