/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "sampled.h"

#include <stdio.h>
#include <stdlib.h>

#include "rank_count.h"

enum { PEERS_MOST = 64, NAME_BYTES = 32 };

/* One step of splitmix64. */
static uint64_t mix(uint64_t value)
{
    value += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b != 0) {
        const uint32_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* The k-th of `count` numbers in an order that the seed chooses: none comes
 * again before all have come. From a start by equal steps, whose length has no
 * divisor in common with the count. */
static uint32_t draw(uint64_t seed, uint32_t k, uint32_t count)
{
    const uint64_t number = mix(seed);
    const uint64_t start = number % count;
    uint32_t step = 1 + (uint32_t)((number >> 32) % count);

    while (common_divisor(step, count) != 1) {
        step++;
    }
    return (uint32_t)((start + (uint64_t)k * step) % count);
}

uint32_t sampled_partner(
    uint64_t seed, uint32_t rank, uint32_t k, uint32_t ranks)
{
    return (rank + 1 + draw(mix(seed ^ rank), k, ranks - 1)) % ranks;
}

uint32_t sampled_step(uint64_t seed, uint32_t round, uint32_t ranks)
{
    return 1 + draw(mix(seed), round, ranks - 1);
}

/* ---- A GPU with the rack ------------------------------------------------ */

static int32_t measure_one(
    struct nvbw_ctx *ctx, uint32_t rank, uint32_t k, uint32_t partner)
{
    const struct nvbw_cell cell = NVBW_CELL("bandwidth", rank, k);
    const struct nvbw_flow flow =
        rank_flow(ctx->testcase->user, rank, partner, &cell);
    const struct nvbw_flow *const list[] = { &flow, NULL };
    const struct nvbw_measurement one = { .size = sizeof one, .flows = list };

    return ctx->host->measure(ctx, &one);
}

static int by_value(const void *one, const void *other)
{
    const double a = *(const double *)one;
    const double b = *(const double *)other;

    return (a > b) - (a < b);
}

/* Of the partners that gave a figure, each of whom counts once: those after the
 * first `peers` draws come for a second time. */
static int32_t put_median(struct nvbw_ctx *ctx, uint32_t rank, uint32_t peers)
{
    const struct nvbw_cell median = NVBW_CELL("median", rank, 0);
    double values[PEERS_MOST];
    uint32_t count = 0;

    for (uint32_t k = 0; k < peers; k++) {
        const struct nvbw_cell cell = NVBW_CELL("bandwidth", rank, k);

        if (ctx->host->figure(ctx, &cell, &values[count]) == NVBW_OK) {
            count++;
        }
    }
    if (count == 0) {
        return ctx->host->skip(ctx, &median, NVBW_SKIP_EXCLUDED,
            "none of this rank's partners gave a figure");
    }
    qsort(values, count, sizeof *values, by_value);

    const double middle = (values[count / 2] + values[(count - 1) / 2]) / 2.0;

    return ctx->host->put(ctx, &median, &middle, 1);
}

int32_t sampled_gpu_to_rack(struct nvbw_ctx *ctx)
{
    const uint64_t seed = (uint64_t)ctx->host->param_int(ctx, "seed", 0);
    const uint32_t peers = (uint32_t)ctx->host->param_int(ctx, "peers", 0);
    const uint32_t ranks = rank_count(ctx);

    for (uint32_t rank = 0; ranks > 1 && rank < ranks; rank++) {
        int32_t status = NVBW_OK;

        for (uint32_t k = 0; k < peers && status >= 0; k++) {
            status = measure_one(
                ctx, rank, k, sampled_partner(seed, rank, k, ranks));
        }
        if (status >= 0) {
            status = put_median(ctx, rank, peers < ranks ? peers : ranks - 1);
        }
        if (status < 0) {
            return status;
        }
    }
    return NVBW_OK;
}

/* ---- Racks -------------------------------------------------------------- */

struct racks {
    uint32_t ranks, size, count;
};

static struct racks racks_of(struct nvbw_ctx *ctx)
{
    struct racks racks = { .ranks = rank_count(ctx),
        .size = (uint32_t)ctx->host->param_int(ctx, "rack_ranks", 0) };

    racks.count = (racks.ranks + racks.size - 1) / racks.size;
    return racks;
}

static uint32_t size_of(const struct racks *racks, uint32_t rack)
{
    const uint32_t first = rack * racks->size;

    return racks->ranks - first < racks->size ? racks->ranks - first
                                              : racks->size;
}

/* Within a rack each with its neighbour; between two as many as the smaller one
 * has. */
static uint32_t list_flows(struct nvbw_ctx *ctx, const struct racks *racks,
    uint32_t one, uint32_t other, struct nvbw_flow *flows,
    const struct nvbw_flow **list)
{
    const uint32_t mine = size_of(racks, one);
    const uint32_t theirs = size_of(racks, other);
    const uint32_t count = mine < theirs ? mine : theirs;

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t partner = one == other ? (i + 1) % count : i;

        flows[i] = rank_flow(ctx->testcase->user, one * racks->size + i,
            other * racks->size + partner, NULL);
        list[i] = &flows[i];
    }
    list[count] = NULL;
    return count;
}

static int32_t measure_racks(struct nvbw_ctx *ctx, const struct racks *racks,
    struct nvbw_flow *flows, const struct nvbw_flow **list)
{
    for (uint32_t at = 0; at < racks->count * racks->count; at++) {
        const uint32_t one = at / racks->count;
        const uint32_t other = at % racks->count;
        const struct nvbw_cell cell = NVBW_CELL("bandwidth", one, other);
        const struct nvbw_measurement all = {
            .size = sizeof all, .flows = list, .total = &cell
        };
        int32_t status = NVBW_OK;

        if (one == other && size_of(racks, one) < 2) {
            status = ctx->host->skip(ctx, &cell, NVBW_SKIP_TOO_FEW_DEVICES,
                "this rack has a single rank");
        } else {
            list_flows(ctx, racks, one, other, flows, list);
            status = ctx->host->measure(ctx, &all);
        }
        if (status < 0) {
            return status;
        }
    }
    return NVBW_OK;
}

/* "ranks 0-71" */
static int32_t label_racks(struct nvbw_ctx *ctx, const struct racks *racks,
    char (*names)[NAME_BYTES], const char **list)
{
    for (uint32_t i = 0; i < racks->count; i++) {
        const uint32_t first = i * racks->size;

        snprintf(names[i], sizeof names[i], "%u-%u", first,
            first + size_of(racks, i) - 1);
        list[i] = names[i];
    }

    const int32_t status = ctx->host->labels(ctx, "bandwidth", 0, list);

    return status < 0 ? status : ctx->host->labels(ctx, "bandwidth", 1, list);
}

static int32_t run_racks(struct nvbw_ctx *ctx, const struct racks *racks,
    char (*names)[NAME_BYTES], const char **labels, struct nvbw_flow *flows,
    const struct nvbw_flow **list)
{
    const int32_t status = label_racks(ctx, racks, names, labels);

    return status < 0 ? status : measure_racks(ctx, racks, flows, list);
}

int32_t sampled_rack_to_rack(struct nvbw_ctx *ctx)
{
    const struct racks racks = racks_of(ctx);
    char(*const names)[NAME_BYTES] = calloc(racks.count + 1, sizeof *names);
    const char **const labels = calloc(racks.count + 1, sizeof *labels);
    struct nvbw_flow *const flows = calloc(racks.size + 1, sizeof *flows);
    const struct nvbw_flow **const list = calloc(racks.size + 1, sizeof *list);
    const int32_t status =
        names == NULL || labels == NULL || flows == NULL || list == NULL
            ? ctx->host->fail(
                  ctx, NULL, NVBW_E_SYSTEM, 0, "no memory for a list of racks")
            : run_racks(ctx, &racks, names, labels, flows, list);

    free(list);
    free(flows);
    free(labels);
    free(names);
    return status;
}

/* ---- All at once, again and again --------------------------------------- */

int32_t sampled_fabric_stress(struct nvbw_ctx *ctx)
{
    const uint64_t seed = (uint64_t)ctx->host->param_int(ctx, "seed", 0);
    const uint32_t rounds = (uint32_t)ctx->host->param_int(ctx, "rounds", 0);
    const uint32_t ranks = rank_count(ctx);
    int32_t status = NVBW_OK;

    for (uint32_t i = 0; ranks > 1 && i < rounds && status >= 0; i++) {
        status = at_once_measure(
            ctx, ctx->testcase->user, ranks, sampled_step(seed, i, ranks), i);
    }
    return status;
}
