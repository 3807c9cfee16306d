/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What the bad plugins share, so that each shows its one fault and no more:
 * a metric "figure" with as many cells as the parameter "cells" says, and a
 * testcase of the plugin's own name. */
#ifndef NVBW_BAD_PLUGIN_H
#define NVBW_BAD_PLUGIN_H

#include "nvbw/plugin.h"

#define BAD_CELL(row, col)                                                     \
    (&(const struct nvbw_cell)NVBW_CELL("figure", (row), (col)))

/* The unit of the figure, where it is no mere number. */
#ifndef BAD_UNIT
#define BAD_UNIT NVBW_UNIT_COUNT
#endif

/* Settles one cell as a good plugin would. */
static inline int32_t settle(struct nvbw_ctx *ctx, uint32_t col)
{
    const double value = 1.0 + col;
    return ctx->host->put(ctx, BAD_CELL(0, col), &value, 1);
}

#define BAD_TESTCASE(name_, cells_, run_)                                      \
    static const struct nvbw_param bad_cells = {                               \
        .size = sizeof bad_cells,                                              \
        .type = NVBW_TYPE_INT,                                                 \
        .name = "cells",                                                       \
        .help = "How many cells there are.",                                   \
        .default_text = (cells_),                                              \
        .min_text = "1",                                                       \
        .max_text = "16",                                                      \
    };                                                                         \
    static const struct nvbw_metric bad_figure = {                             \
        .size = sizeof bad_figure,                                             \
        .unit = BAD_UNIT,                                                      \
        .better = NVBW_HIGHER,                                                 \
        .name = "figure",                                                      \
        .help = "A number.",                                                   \
        .cols = "#cells",                                                      \
    };                                                                         \
    static const struct nvbw_testcase bad_testcase = {                         \
        .size = sizeof bad_testcase,                                           \
        .name = (name_),                                                       \
        .summary = "Breaks one rule.",                                         \
        .params = (const struct nvbw_param *const[]){ &bad_cells, NULL },      \
        .metrics = (const struct nvbw_metric *const[]){ &bad_figure, NULL },   \
        .run = (run_),                                                         \
    }

/* Members of the plugin's struct; a plugin that lies about one of them gives
 * it again after these. */
#define BAD_MEMBERS(name_)                                                     \
    .size = sizeof nvbw_plugin_v1, .magic = NVBW_MAGIC,                        \
    .abi_minor = NVBW_ABI_MINOR, .name = (name_), .version = "1.0.0",          \
    .summary = "Breaks one rule.", .licence = "Apache-2.0",                    \
    .testcases = (const struct nvbw_testcase *const[])                         \
    {                                                                          \
        &bad_testcase, NULL                                                    \
    }

#define BAD_PLUGIN(name_, cells_, run_)                                        \
    BAD_TESTCASE(name_, cells_, run_);                                         \
    const struct nvbw_plugin nvbw_plugin_v1 = { BAD_MEMBERS(name_) }

#endif
