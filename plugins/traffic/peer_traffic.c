/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "peer_traffic.h"

#include <stdlib.h>
#include <string.h>

#include "peer_rounds.h"

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
};

static struct nvbw_flow make_flow(const struct peer_run *run, uint32_t actor,
    uint32_t other, const struct nvbw_cell *cell)
{
    const uint32_t reads = run->traffic->reads;
    const uint32_t memory =
        run->mover->axis == NULL ? NVBW_MEM_DEVICE : NVBW_MEM_FABRIC;
    const struct nvbw_flow flow = { .size = sizeof flow,
        .flags = run->mover->flags,
        .initiator = run->mover->initiator,
        .operation = NVBW_OP_COPY,
        .src_memory = memory,
        .dst_memory = memory,
        .src_place = (int32_t)(reads ? other : actor),
        .dst_place = (int32_t)(reads ? actor : other),
        .executor = (int32_t)actor,
        .cell = cell };

    return flow;
}

static int32_t no_memory(const struct peer_run *run)
{
    return run->ctx->host->fail(
        run->ctx, NULL, NVBW_E_SYSTEM, 0, "no memory for the list of flows");
}

/* ---- Pairs -------------------------------------------------------------- */

/* A pair's measurement and what it points to, so it stays where it is. */
struct pair {
    struct nvbw_cell cells[3];
    struct nvbw_flow flows[2];
    const struct nvbw_flow *list[3];
    struct nvbw_measurement measurement;
};

static void fill_pair(
    const struct peer_run *run, uint32_t row, uint32_t col, struct pair *out)
{
    const struct nvbw_cell cell = NVBW_CELL("bandwidth", row, col);

    out->cells[0] = cell;
    out->flows[0] = make_flow(run, row, col, &out->cells[0]);
    out->list[0] = &out->flows[0];
    out->list[1] = NULL;
    out->measurement =
        (struct nvbw_measurement){ .size = sizeof out->measurement,
            .flows = out->list };
}

static void fill_both_ways(
    const struct peer_run *run, uint32_t row, uint32_t col, struct pair *out)
{
    const struct nvbw_cell cells[] = { NVBW_CELL("forward", row, col),
        NVBW_CELL("reverse", row, col), NVBW_CELL("total", row, col) };
    const uint32_t reads = run->traffic->reads;
    const uint32_t sender = reads ? col : row;
    const uint32_t answerer = reads ? row : col;

    memcpy(out->cells, cells, sizeof cells);
    out->flows[0] = make_flow(run, sender, answerer, &out->cells[0]);
    out->flows[1] = make_flow(run, answerer, sender, &out->cells[1]);
    out->list[0] = &out->flows[0];
    out->list[1] = &out->flows[1];
    out->list[2] = NULL;
    out->measurement =
        (struct nvbw_measurement){ .size = sizeof out->measurement,
            .flows = out->list,
            .total = &out->cells[2] };
}

static void fill(
    const struct peer_run *run, uint32_t row, uint32_t col, struct pair *out)
{
    if (run->traffic->shape == PEER_BOTH_WAYS) {
        fill_both_ways(run, row, col, out);
    } else {
        fill_pair(run, row, col, out);
    }
}

static int32_t run_alone(const struct peer_run *run)
{
    int32_t status = NVBW_OK;
    struct pair pair;

    for (uint32_t at = 0; at < run->gpus * run->gpus && status >= 0; at++) {
        const uint32_t row = at / run->gpus;
        const uint32_t col = at % run->gpus;

        if (row != col) {
            fill(run, row, col, &pair);
            status = run->ctx->host->measure(run->ctx, &pair.measurement);
        }
    }
    return status;
}

/* All pairs of a round at once, in one direction: 1 turns them round. */
static int32_t run_round(const struct peer_run *run, uint32_t round,
    uint32_t turned, struct pair *pairs, const struct nvbw_measurement **list)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < (run->gpus + 1) / 2; i++) {
        uint32_t one;
        uint32_t other;

        if (peer_round_pair(run->gpus, round, i, &one, &other)) {
            fill(
                run, turned ? other : one, turned ? one : other, &pairs[count]);
            list[count] = &pairs[count].measurement;
            count++;
        }
    }
    list[count] = NULL;
    pairs[0].measurement.beside = &list[1];
    return run->ctx->host->measure(run->ctx, list[0]);
}

static int32_t run_rounds(const struct peer_run *run, struct pair *pairs,
    const struct nvbw_measurement **list)
{
    int32_t status = NVBW_OK;

    for (uint32_t i = 0; i < 2 * peer_rounds(run->gpus) && status >= 0; i++) {
        status = run_round(run, i / 2, i % 2, pairs, list);
    }
    return status;
}

static int32_t run_disjoint(const struct peer_run *run)
{
    const size_t most = (size_t)run->gpus / 2 + 1;
    struct pair *const pairs = calloc(most, sizeof *pairs);
    const struct nvbw_measurement **const list = calloc(most, sizeof *list);
    const int32_t status = pairs == NULL || list == NULL
                               ? no_memory(run)
                               : run_rounds(run, pairs, list);

    free(list);
    free(pairs);
    return status;
}

static int32_t run_pairs(const struct peer_run *run)
{
    return run->ctx->host->param_int(run->ctx, "concurrency", 0) ==
                   PEER_CONCURRENCY_DISJOINT
               ? run_disjoint(run)
               : run_alone(run);
}

/* ---- Teams -------------------------------------------------------------- */

static int32_t run_team(const struct peer_run *run, uint32_t one,
    struct nvbw_flow *flows, const struct nvbw_flow **list)
{
    const struct nvbw_cell cell = NVBW_CELL("bandwidth", 0, one);
    const int to_one = run->traffic->shape == PEER_ALL_TO_ONE;
    const struct nvbw_measurement at_once = {
        .size = sizeof at_once, .flows = list, .total = &cell
    };
    uint32_t count = 0;

    for (uint32_t other = 0; other < run->gpus; other++) {
        if (other != one) {
            flows[count] = make_flow(
                run, to_one ? other : one, to_one ? one : other, NULL);
            list[count] = &flows[count];
            count++;
        }
    }
    list[count] = NULL;
    return run->ctx->host->measure(run->ctx, &at_once);
}

static int32_t run_each_team(const struct peer_run *run,
    struct nvbw_flow *flows, const struct nvbw_flow **list)
{
    int32_t status = NVBW_OK;

    for (uint32_t one = 0; one < run->gpus && status >= 0; one++) {
        status = run_team(run, one, flows, list);
    }
    return status;
}

static int32_t run_teams(const struct peer_run *run)
{
    const size_t most = (size_t)run->gpus + 1;
    struct nvbw_flow *const flows = calloc(most, sizeof *flows);
    const struct nvbw_flow **const list = calloc(most, sizeof *list);
    const int32_t status = flows == NULL || list == NULL
                               ? no_memory(run)
                               : run_each_team(run, flows, list);

    free(list);
    free(flows);
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
    const struct peer_run run = { .ctx = ctx,
        .traffic = traffic,
        .mover = mover,
        .gpus = count_places(ctx->host->places(
            ctx, mover->axis == NULL ? "gpu" : mover->axis)) };

    return runs[traffic->shape](&run);
}

int32_t peer_traffic_run_kernels(struct nvbw_ctx *ctx,
    const struct peer_traffic *traffic, uint32_t initiator)
{
    const struct peer_mover mover = { initiator, 0, NULL };

    if (ctx->host->param_int(ctx, "p2p", 0) == PEER_P2P_OFF) {
        return ctx->host->skip(ctx, NULL, NVBW_SKIP_NO_PEER_ACCESS,
            "a kernel cannot reach another GPU's memory with p2p = \"off\"");
    }
    return peer_traffic_run(ctx, traffic, &mover);
}
