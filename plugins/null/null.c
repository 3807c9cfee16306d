/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* null: testcases that move nothing. They measure the host itself: what a
 * cell and what a sample cost on the way from a worker to the reports. */
#include "nvbw/plugin.h"

#include <stdlib.h>

static int32_t run_cells(struct nvbw_ctx *ctx)
{
    const struct nvbw_host *host = ctx->host;
    const int64_t cells = host->param_int(ctx, "cells", 0);

    for (uint32_t i = 0; i < cells; i++) {
        const struct nvbw_cell cell = NVBW_CELL("figure", 0, i);
        if (!host->wanted(ctx, &cell)) {
            continue;
        }
        if (host->cancelled(ctx)) {
            return NVBW_E_CANCELLED;
        }
        const double value = 1.0 + i;
        const int32_t status = host->put(ctx, &cell, &value, 1);
        if (status < 0) {
            return status;
        }
    }
    return NVBW_OK;
}

static int32_t run_samples(struct nvbw_ctx *ctx)
{
    const struct nvbw_host *host = ctx->host;
    const struct nvbw_cell cell = NVBW_CELL("figure", 0, 0);
    const size_t count = (size_t)host->param_int(ctx, "count", 0);

    if (!host->wanted(ctx, &cell)) {
        return NVBW_OK;
    }
    double *samples = calloc(count, sizeof samples[0]);
    if (samples == NULL) {
        return host->fail(ctx, &cell, NVBW_E_SYSTEM, 0,
            "no memory for the samples; ask for a smaller count");
    }
    /* A known spread, so that statistics over it can be checked: the values
     * 1000 to 1999 in turn. */
    for (size_t i = 0; i < count; i++) {
        samples[i] = 1000.0 + (double)(i % 1000);
    }
    const int32_t status = host->put(ctx, &cell, samples, count);
    free(samples);
    return status;
}

static const struct nvbw_param cells = {
    .size = sizeof cells,
    .type = NVBW_TYPE_INT,
    .unit = NVBW_UNIT_COUNT,
    .name = "cells",
    .help = "How many cells to settle.",
    .default_text = "16",
    .min_text = "1",
    .max_text = "100000",
};
static const struct nvbw_param count = {
    .size = sizeof count,
    .type = NVBW_TYPE_INT,
    .unit = NVBW_UNIT_COUNT,
    .name = "count",
    .help = "How many samples to put into the one cell.",
    .default_text = "1000",
    .min_text = "1",
    .max_text = "1000000",
};
static const struct nvbw_metric many_figures = {
    .size = sizeof many_figures,
    .unit = NVBW_UNIT_COUNT,
    .better = NVBW_HIGHER,
    .name = "figure",
    .help = "The cell's own number, from 1.",
    .cols = "#cells",
};
static const struct nvbw_metric one_figure = {
    .size = sizeof one_figure,
    .unit = NVBW_UNIT_COUNT,
    .better = NVBW_HIGHER,
    .name = "figure",
    .help = "The numbers from 1000 to 1999 in turn.",
};
static const char *const tags[] = { "self", NULL };

static const struct nvbw_testcase null_cell = {
    .size = sizeof null_cell,
    .name = "null_cell",
    .summary = "Settles cells without any work.",
    .help = "Shows what the host itself spends on a cell: frames, journal, "
            "judging and reports. Needs no GPU.",
    .tags = tags,
    .params = (const struct nvbw_param *const[]){ &cells, NULL },
    .metrics = (const struct nvbw_metric *const[]){ &many_figures, NULL },
    .run = run_cells,
};
static const struct nvbw_testcase null_samples = {
    .size = sizeof null_samples,
    .name = "null_samples",
    .summary = "Puts many samples into one cell.",
    .help = "Shows what the host itself spends on a sample: frames, journal "
            "and statistics. Needs no GPU.",
    .tags = tags,
    .params = (const struct nvbw_param *const[]){ &count, NULL },
    .metrics = (const struct nvbw_metric *const[]){ &one_figure, NULL },
    .run = run_samples,
};

const struct nvbw_plugin nvbw_plugin_v1 = {
    .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "null",
    .version = "1.0.0",
    .summary = "Moves nothing: measures the host itself.",
    .licence = "Apache-2.0",
    .testcases = (const struct nvbw_testcase *const[]){ &null_cell,
        &null_samples, NULL },
};
