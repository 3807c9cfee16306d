/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "local_stream.h"

#include "local_traffic.h"

static const struct nvbw_param ladder_param = {
    .size = sizeof ladder_param,
    .flags = NVBW_PARAM_LIST,
    .type = NVBW_TYPE_SIZE,
    .name = "ladder",
    .help = "Sizes of an array; each operation has two or three of them.",
    .default_text = "256 KiB, 1 MiB, 2 MiB, 4 MiB, 8 MiB, 16 MiB, 32 MiB, "
                    "64 MiB, 256 MiB, 1 GiB, 2 GiB",
    .min_text = "16 B",
    .max_text = "64 GiB",
};
static const struct nvbw_param *const params[] = { &ladder_param, NULL };

#define TRAFFIC(symbol, help_)                                                 \
    static const struct nvbw_metric symbol = { .size = sizeof symbol,          \
        .unit = NVBW_UNIT_BYTES_PER_SECOND,                                    \
        .better = NVBW_HIGHER,                                                 \
        .name = "traffic",                                                     \
        .help = (help_),                                                       \
        .rows = "ladder",                                                      \
        .cols = "gpu" }
TRAFFIC(pair_traffic,
    "Bytes read and written, 16 an element, as BabelStream counts.");
TRAFFIC(sum_traffic,
    "Bytes read and written, 24 an element, as BabelStream counts.");
TRAFFIC(dot_traffic, "Bytes read, 16 an element, as BabelStream counts.");

static const struct nvbw_metric *const pair_metrics[] = { &pair_traffic, NULL };
static const struct nvbw_metric *const sum_metrics[] = { &sum_traffic, NULL };
static const struct nvbw_metric *const dot_metrics[] = { &dot_traffic, NULL };

/* ---- What a testcase does ------------------------------------------------ */

static uint32_t operation_of(const struct nvbw_ctx *ctx)
{
    const uint32_t *const operation = ctx->testcase->user;

    return *operation;
}

static int32_t measure_size(struct nvbw_ctx *ctx, uint32_t row, uint32_t gpu)
{
    const uint32_t operation = operation_of(ctx);
    const int has_dst = operation != NVBW_OP_DOT;
    const struct nvbw_cell cell = NVBW_CELL("traffic", row, gpu);
    const struct nvbw_flow flow = { .size = sizeof flow,
        .initiator = NVBW_BY_SM,
        .operation = operation,
        .src_memory = NVBW_MEM_DEVICE,
        .dst_memory = has_dst ? NVBW_MEM_DEVICE : NVBW_MEM_NONE,
        .src_place = (int32_t)gpu,
        .dst_place = has_dst ? (int32_t)gpu : 0,
        .executor = (int32_t)gpu,
        .bytes = (uint64_t)ctx->host->param_int(ctx, "ladder", row),
        .cell = &cell };
    const struct nvbw_flow *const flows[] = { &flow, NULL };
    const struct nvbw_measurement measurement = { .size = sizeof measurement,
        .flows = flows };

    return ctx->host->measure(ctx, &measurement);
}

static int32_t run(struct nvbw_ctx *ctx)
{
    const struct nvbw_place *const *const gpus = ctx->host->places(ctx, "gpu");
    const uint32_t sizes = ctx->host->param_count(ctx, "ladder");
    int32_t status = NVBW_OK;

    for (uint32_t gpu = 0; gpus[gpu] != NULL && status >= 0; gpu++) {
        for (uint32_t row = 0; row < sizes && status >= 0; row++) {
            status = measure_size(ctx, row, gpu);
        }
    }
    return status;
}

/* ---- Testcases ----------------------------------------------------------- */

static const char *const tags[] = { "local", "stream", "bandwidth", NULL };

#define HELP                                                                   \
    " Arrays of doubles, of each size of the ladder, and the same ones for "   \
    "all copies of a sample, as with STREAM: those that fit a cache show the " \
    "cache and carry the flag cache_bound, so the column is the curve of the " \
    "GPU's memory from its L1 on. Copies of arrays up to 256 MiB are laps of " \
    "one kernel, in which each block goes round its own part; so small ones "  \
    "are not a matter of launches. What is stored always goes to the L2, so "  \
    "only dot shows the L1 alone.\n\nThe numbers are whole ones, so results "  \
    "are exact and "
#define HELP_WORDS                                                             \
    "every word of the last lap's is compared. buffer_size has no effect."
#define HELP_SUM "the sum over all laps is compared. buffer_size has no effect."

#define TESTCASE(name_, operation_, metrics_, help_, summary_)                 \
    static const uint32_t operation_of_##name_ = operation_;                   \
    const struct nvbw_testcase name_ = { .size = sizeof name_,                 \
        .name = #name_,                                                        \
        .summary = summary_,                                                   \
        .help = help_,                                                         \
        .tags = tags,                                                          \
        .needs = &local_needs,                                                 \
        .params = params,                                                      \
        .metrics = metrics_,                                                   \
        .user = &operation_of_##name_,                                         \
        .run = run }

TESTCASE(stream_copy, NVBW_OP_STREAM_COPY, pair_metrics,
    "a = b." HELP HELP_WORDS, "STREAM's copy within each GPU, by size.");
TESTCASE(stream_scale, NVBW_OP_SCALE, pair_metrics, "a = 3 b." HELP HELP_WORDS,
    "STREAM's scale within each GPU, by size.");
TESTCASE(stream_add, NVBW_OP_ADD, sum_metrics, "a = b + c." HELP HELP_WORDS,
    "STREAM's add within each GPU, by size.");
TESTCASE(stream_triad, NVBW_OP_TRIAD, sum_metrics,
    "a = b + 3 c." HELP HELP_WORDS, "STREAM's triad within each GPU, by size.");
TESTCASE(stream_dot, NVBW_OP_DOT, dot_metrics,
    "The sum of all b c." HELP HELP_SUM,
    "BabelStream's dot within each GPU, by size.");
