/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "at_once.h"

#include <stdlib.h>

struct nvbw_flow rank_flow(const struct rank_mover *mover, uint32_t actor,
    uint32_t other, const struct nvbw_cell *cell)
{
    const struct nvbw_flow flow = { .size = sizeof flow,
        .initiator = mover->initiator,
        .operation = NVBW_OP_COPY,
        .src_memory = NVBW_MEM_FABRIC,
        .dst_memory = NVBW_MEM_FABRIC,
        .src_place = (int32_t)(mover->reads ? other : actor),
        .dst_place = (int32_t)(mover->reads ? actor : other),
        .executor = (int32_t)actor,
        .cell = cell };

    return flow;
}

/* Of one rank; the list points to it. */
struct own_flow {
    struct nvbw_cell cell;
    struct nvbw_flow flow;
};

static int32_t measure_listed(struct nvbw_ctx *ctx,
    const struct rank_mover *mover, uint32_t ranks, uint32_t step, uint32_t col,
    struct own_flow *own, const struct nvbw_flow **list)
{
    const struct nvbw_measurement all = { .size = sizeof all, .flows = list };

    for (uint32_t i = 0; i < ranks; i++) {
        const struct nvbw_cell cell = NVBW_CELL("bandwidth", i, col);

        own[i].cell = cell;
        own[i].flow = rank_flow(mover, i, (i + step) % ranks, &own[i].cell);
        list[i] = &own[i].flow;
    }
    return ctx->host->measure(ctx, &all);
}

int32_t at_once_measure(struct nvbw_ctx *ctx, const struct rank_mover *mover,
    uint32_t ranks, uint32_t step, uint32_t col)
{
    struct own_flow *const own = calloc((size_t)ranks + 1, sizeof *own);
    const struct nvbw_flow **const list =
        calloc((size_t)ranks + 1, sizeof *list);
    const int32_t status =
        own == NULL || list == NULL
            ? ctx->host->fail(
                  ctx, NULL, NVBW_E_SYSTEM, 0, "no memory for a list of flows")
            : measure_listed(ctx, mover, ranks, step, col, own, list);

    free(list);
    free(own);
    return status;
}
