/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "peer_traffic.h"

#include <stdlib.h>

/* ---- Metrics ------------------------------------------------------------ */

#define PEER_METRIC(symbol, flags_, name_, help_, rows_)                       \
    static const struct nvbw_metric symbol = { .size = sizeof symbol,          \
        .flags = (flags_),                                                     \
        .unit = NVBW_UNIT_BYTES_PER_SECOND,                                    \
        .better = NVBW_HIGHER,                                                 \
        .name = (name_),                                                       \
        .help = (help_),                                                       \
        .rows = (rows_),                                                       \
        .cols = "gpu" }

PEER_METRIC(metric_pair, NVBW_METRIC_PAIRS, "bandwidth",
    "Payload between the GPU of the row, which moves it, and that of the "
    "column.",
    "gpu");
PEER_METRIC(metric_forward, NVBW_METRIC_PAIRS, "forward",
    "Payload from the GPU of the row to that of the column.", "gpu");
PEER_METRIC(metric_reverse, NVBW_METRIC_PAIRS, "reverse",
    "Payload from the GPU of the column to that of the row, at the same "
    "time.",
    "gpu");
PEER_METRIC(metric_total, NVBW_METRIC_PAIRS, "total",
    "Payload of both directions over first start to last end.", "gpu");
PEER_METRIC(metric_team, 0, "bandwidth",
    "Payload between this GPU and all others over first start to last end.",
    NULL);

const struct nvbw_metric *const peer_metrics_pair[] = { &metric_pair, NULL };
const struct nvbw_metric *const peer_metrics_both_ways[] = { &metric_forward,
    &metric_reverse, &metric_total, NULL };
const struct nvbw_metric *const peer_metrics_team[] = { &metric_team, NULL };

/* ---- Flows -------------------------------------------------------------- */

/* One testcase being run. */
struct peer_run {
    struct nvbw_ctx *ctx;
    const struct peer_traffic *traffic;
    const struct peer_mover *mover;
    uint32_t gpus;
    struct nvbw_flow *flows;       /* gpus of them */
    const struct nvbw_flow **list; /* with room for the NULL */
};

static struct nvbw_flow make_flow(const struct peer_run *run, uint32_t actor,
    uint32_t other, const struct nvbw_cell *cell)
{
    const uint32_t reads = run->traffic->reads;
    const struct nvbw_flow flow = { .size = sizeof flow,
        .flags = run->mover->flags,
        .initiator = run->mover->initiator,
        .operation = NVBW_OP_COPY,
        .src_memory = NVBW_MEM_DEVICE,
        .dst_memory = NVBW_MEM_DEVICE,
        .src_place = (int32_t)(reads ? other : actor),
        .dst_place = (int32_t)(reads ? actor : other),
        .executor = (int32_t)actor,
        .cell = cell };

    return flow;
}

static int32_t measure(
    const struct peer_run *run, uint32_t count, const struct nvbw_cell *total)
{
    const struct nvbw_measurement at_once = {
        .size = sizeof at_once, .flows = run->list, .total = total
    };

    for (uint32_t i = 0; i < count; i++) {
        run->list[i] = &run->flows[i];
    }
    run->list[count] = NULL;
    return run->ctx->host->measure(run->ctx, &at_once);
}

static int32_t measure_pair(
    const struct peer_run *run, uint32_t row, uint32_t col)
{
    const struct nvbw_cell cell = NVBW_CELL("bandwidth", row, col);

    run->flows[0] = make_flow(run, row, col, &cell);
    return measure(run, 1, NULL);
}

static int32_t measure_both_ways(
    const struct peer_run *run, uint32_t row, uint32_t col)
{
    const struct nvbw_cell there = NVBW_CELL("forward", row, col);
    const struct nvbw_cell back = NVBW_CELL("reverse", row, col);
    const struct nvbw_cell sum = NVBW_CELL("total", row, col);
    const uint32_t reads = run->traffic->reads;

    run->flows[0] =
        make_flow(run, reads ? col : row, reads ? row : col, &there);
    run->flows[1] = make_flow(run, reads ? row : col, reads ? col : row, &back);
    return measure(run, 2, &sum);
}

static int32_t measure_team(const struct peer_run *run, uint32_t one)
{
    const struct nvbw_cell cell = NVBW_CELL("bandwidth", 0, one);
    const int to_one = run->traffic->shape == PEER_ALL_TO_ONE;
    uint32_t count = 0;

    for (uint32_t other = 0; other < run->gpus; other++) {
        if (other != one) {
            run->flows[count++] = make_flow(
                run, to_one ? other : one, to_one ? one : other, NULL);
        }
    }
    return measure(run, count, &cell);
}

/* ---- Cells -------------------------------------------------------------- */

static int32_t run_pairs(const struct peer_run *run)
{
    const int both = run->traffic->shape == PEER_BOTH_WAYS;
    int32_t status = NVBW_OK;

    for (uint32_t at = 0; at < run->gpus * run->gpus && status >= 0; at++) {
        const uint32_t row = at / run->gpus;
        const uint32_t col = at % run->gpus;

        if (row != col) {
            status = both ? measure_both_ways(run, row, col)
                          : measure_pair(run, row, col);
        }
    }
    return status;
}

static int32_t run_teams(const struct peer_run *run)
{
    int32_t status = NVBW_OK;

    for (uint32_t one = 0; one < run->gpus && status >= 0; one++) {
        status = measure_team(run, one);
    }
    return status;
}

static uint32_t count_places(const struct nvbw_place *const *places)
{
    uint32_t count = 0;

    while (places[count] != NULL) {
        count++;
    }
    return count;
}

int32_t peer_traffic_run(struct nvbw_ctx *ctx,
    const struct peer_traffic *traffic, const struct peer_mover *mover)
{
    static int32_t (*const runs[])(const struct peer_run *) = {
        [PEER_PAIR] = run_pairs,
        [PEER_BOTH_WAYS] = run_pairs,
        [PEER_ALL_TO_ONE] = run_teams,
        [PEER_ONE_TO_ALL] = run_teams,
    };
    struct peer_run run = { .ctx = ctx,
        .traffic = traffic,
        .mover = mover,
        .gpus = count_places(ctx->host->places(ctx, "gpu")) };
    int32_t status = NVBW_OK;

    run.flows = calloc((size_t)run.gpus + 2, sizeof *run.flows);
    run.list = calloc((size_t)run.gpus + 3, sizeof *run.list);
    if (run.flows != NULL && run.list != NULL) {
        status = runs[traffic->shape](&run);
    } else {
        status = ctx->host->fail(
            ctx, NULL, NVBW_E_SYSTEM, 0, "no memory for the list of flows");
    }
    free(run.list);
    free(run.flows);
    return status;
}

int32_t peer_traffic_run_kernels(struct nvbw_ctx *ctx,
    const struct peer_traffic *traffic, uint32_t initiator)
{
    const struct peer_mover mover = { initiator, 0 };

    if (ctx->host->param_int(ctx, "p2p", 0) == PEER_P2P_OFF) {
        return ctx->host->skip(ctx, NULL, NVBW_SKIP_NO_PEER_ACCESS,
            "a kernel cannot reach another GPU's memory with p2p = \"off\"");
    }
    return peer_traffic_run(ctx, traffic, &mover);
}
