/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Calls everything in init, where there is no task: nothing comes of it. */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    return settle(ctx, 0);
}

static int32_t init(struct nvbw_ctx *ctx)
{
    const struct nvbw_host *const host = ctx->host;
    double value = 1.0;
    (void)host->places(ctx, "moons");
    (void)host->places(ctx, NULL);
    (void)host->param_count(ctx, "cells");
    (void)host->param_int(ctx, NULL, 7);
    (void)host->param_real(ctx, "moons", 0);
    (void)host->param_text(ctx, "moons", 0);
    (void)host->measure(ctx, NULL);
    (void)host->wanted(ctx, BAD_CELL(0, 0));
    (void)host->figure(ctx, BAD_CELL(0, 0), &value);
    (void)host->quantile(ctx, NULL, -1.0, NULL);
    (void)host->put(ctx, BAD_CELL(0, 0), &value, 1);
    (void)host->labels(ctx, NULL, 9, NULL);
    (void)host->driver(ctx, NULL, 0);
    (void)host->lend(ctx, NULL);
    (void)host->join(ctx, 3, 2);
    (void)host->time_left_ns(ctx);
    host->log(ctx, -1, NULL);
    return 12345;
}

BAD_TESTCASE("init_calls", "1", run);
const struct nvbw_plugin nvbw_plugin_v1 = { BAD_MEMBERS("init_calls"),
    .init = init };
