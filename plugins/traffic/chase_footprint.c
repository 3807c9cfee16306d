/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "chase_footprint.h"

/* What nvbandwidth follows: enough for no SM's own cache. */
#define STRIDE_FOOTPRINT (UINT64_C(2) << 20)

/* A random cycle outruns the cache that would answer so many times. */
#define GPU_CACHES 20
#define CPU_CACHES 4
/* Of a host whose cache is unknown or too large to be outrun. */
#define HOST_FOOTPRINT_LEAST (UINT64_C(256) << 20)
#define HOST_FOOTPRINT_MOST  (UINT64_C(4) << 30)

const struct nvbw_param chase_footprint_param = {
    .size = sizeof chase_footprint_param,
    .type = NVBW_TYPE_SIZE,
    .name = "footprint",
    .help = "Memory that the chain of loads lies in; 0 B: 2 MiB for chase = "
            "\"stride\"; for \"random\" 20 times the L2 cache, or 4 times the "
            "host's last-level cache (256 MiB to 4 GiB).",
    .default_text = "0 B",
    .min_text = "0 B",
    .max_text = "1 TiB",
};

static uint64_t between(uint64_t value, uint64_t least, uint64_t most)
{
    if (value < least) {
        return least;
    }
    return value < most ? value : most;
}

static uint64_t host_cache(struct nvbw_ctx *ctx, const struct nvbw_place *gpu)
{
    const struct nvbw_place *const *const nodes =
        ctx->host->places(ctx, "numa");

    for (int32_t i = 0; nodes[i] != NULL; i++) {
        if (i == gpu->near_node) {
            return nodes[i]->cache;
        }
    }
    return 0;
}

uint64_t chase_footprint(struct nvbw_ctx *ctx, enum chase_where where,
    enum chase_order order, const struct nvbw_place *row,
    const struct nvbw_place *col)
{
    const uint64_t given = (uint64_t)ctx->host->param_int(ctx, "footprint", 0);

    if (given != 0) {
        return given;
    }
    if (order == ORDER_STRIDE) {
        return STRIDE_FOOTPRINT;
    }
    if (where == ON_HOST) {
        return between(CPU_CACHES * host_cache(ctx, row), HOST_FOOTPRINT_LEAST,
            HOST_FOOTPRINT_MOST);
    }
    return between(GPU_CACHES * col->cache, STRIDE_FOOTPRINT, col->memory / 4);
}
