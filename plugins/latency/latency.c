/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* latency: the time of one load, each waiting for the one before, over memory
 * of the host, of another GPU and of the GPU itself. One run() serves all; a
 * testcase is its row of work. */
#include "latency.h"

struct work {
    uint32_t initiator;
    enum chase_where where;
};

/* ---- Parameters --------------------------------------------------------- */

static const struct nvbw_param *const params[] = { &chase_footprint_param,
    NULL };

/* ---- Running ------------------------------------------------------------ */

/* GPU `row` follows a chain over the memory of GPU `col`, or of the host. The
 * list is asked for once: a second answer might be shorter. */
static int32_t measure_cell(struct nvbw_ctx *ctx,
    const struct nvbw_place *const *gpus, uint32_t row, uint32_t col,
    const struct nvbw_cell *cell)
{
    const struct work *const work = ctx->testcase->user;
    const enum chase_order order =
        (enum chase_order)ctx->host->param_int(ctx, "chase", 0);
    const int on_host = work->where == ON_HOST;
    const struct nvbw_flow flow = {
        .size = sizeof flow,
        .initiator = work->initiator,
        .operation = NVBW_OP_CHASE,
        .src_memory = on_host ? NVBW_MEM_PINNED : NVBW_MEM_DEVICE,
        .src_place = on_host ? NVBW_NEAR : (int32_t)col,
        .executor = (int32_t)row,
        .stride = order == ORDER_STRIDE ? CHASE_STRIDE : 0,
        .bytes = chase_footprint(ctx, work->where, order, gpus[row], gpus[col]),
        .cell = cell,
    };
    const struct nvbw_flow *const flows[] = { &flow, NULL };
    const struct nvbw_measurement measurement = { .size = sizeof measurement,
        .flows = flows };

    return ctx->host->measure(ctx, &measurement);
}

static int32_t measure_row(
    struct nvbw_ctx *ctx, const struct nvbw_place *const *gpus, uint32_t row)
{
    const struct work *const work = ctx->testcase->user;

    if (work->where != ON_PEER) {
        const struct nvbw_cell cell = NVBW_CELL("latency", 0, row);

        return measure_cell(ctx, gpus, row, row, &cell);
    }
    for (uint32_t col = 0; gpus[col] != NULL; col++) {
        const struct nvbw_cell cell = NVBW_CELL("latency", row, col);
        const int32_t status =
            row == col ? NVBW_OK : measure_cell(ctx, gpus, row, col, &cell);

        if (status < 0) {
            return status;
        }
    }
    return NVBW_OK;
}

static int32_t run(struct nvbw_ctx *ctx)
{
    const struct nvbw_place *const *const gpus = ctx->host->places(ctx, "gpu");

    for (uint32_t row = 0; gpus[row] != NULL; row++) {
        const int32_t status = measure_row(ctx, gpus, row);

        if (status < 0) {
            return status;
        }
    }
    return NVBW_OK;
}

/* ---- Testcases ---------------------------------------------------------- */

#define METRIC(variable, flags_, rows_, help_)                                 \
    static const struct nvbw_metric variable = { .size = sizeof variable,      \
        .flags = (flags_),                                                     \
        .unit = NVBW_UNIT_NANOSECONDS,                                         \
        .better = NVBW_LOWER,                                                  \
        .name = "latency",                                                     \
        .help = help_,                                                         \
        .rows = (rows_),                                                       \
        .cols = "gpu" };                                                       \
    static const struct nvbw_metric *const variable##_list[] = { &variable,    \
        NULL };

METRIC(from_host, 0, NULL,
    "Time of one load by this GPU from the host's memory nearest to it.")
METRIC(from_peer, NVBW_METRIC_PAIRS, "gpu",
    "Time of one load by the row's GPU from the memory of the column's.")
METRIC(
    from_itself, 0, NULL, "Time of one load by this GPU from its own memory.")

static const struct nvbw_needs one_gpu = { .size = sizeof one_gpu,
    .min_gpus = 1 };
static const struct nvbw_needs one_gpu_bulk = {
    .size = sizeof one_gpu_bulk, .min_gpus = 1, .min_compute = 90
};
static const struct nvbw_needs two_gpus = {
    .size = sizeof two_gpus, .features = NVBW_NEED_PEER, .min_gpus = 2
};
static const struct nvbw_needs two_gpus_bulk = { .size = sizeof two_gpus_bulk,
    .features = NVBW_NEED_PEER,
    .min_gpus = 2,
    .min_compute = 90 };

static const char *const tags_host[] = { "host", "latency", NULL };
static const char *const tags_peer[] = { "peer", "latency", NULL };
static const char *const tags_local[] = { "local", "latency", NULL };

#define ABOUT                                                                  \
    "One thread of one SM follows a chain whose every node holds the address " \
    "of the next.\n\n"                                                         \
    "chase = \"stride\": 128-byte steps over 2 MiB from the head on, by "      \
    "every "                                                                   \
    "SM in turn, a launch each, as nvbandwidth does; the figure is the mean "  \
    "over the SMs, launches included. A chain of 2 MiB in a GPU is answered "  \
    "by that GPU's L2 cache (flag cache_bound).\n\n"                           \
    "chase = \"random\": a random cycle over `footprint`, after the cache "    \
    "was "                                                                     \
    "emptied and one lap taken by all SMs; the figure is the difference of "   \
    "three stretches and one on some of the SMs in turn, so launches drop "    \
    "out.\n\n"                                                                 \
    "buffer_size has no effect. The record's spread is that over the SMs. "    \
    "Verified: every link, by the lap; and where each walk ends, which only "  \
    "a walk in order reaches (one short of whole laps would, too)."

/* X(name, initiator, where, tags, needs, metrics, summary) */
#define TESTCASES(X)                                                           \
    X(host_device_latency_sm, NVBW_BY_SM, ON_HOST, tags_host, one_gpu,         \
        from_host_list, "Latency of host memory for loads by each GPU.")       \
    X(device_to_device_latency_sm, NVBW_BY_SM, ON_PEER, tags_peer, two_gpus,   \
        from_peer_list,                                                        \
        "Latency of each GPU's memory for loads by each other GPU.")           \
    X(device_to_device_latency_tma, NVBW_BY_TMA, ON_PEER, tags_peer,           \
        two_gpus_bulk, from_peer_list,                                         \
        "Latency of each GPU's memory for bulk copies by each other GPU.")     \
    X(device_local_latency_sm, NVBW_BY_SM, ON_ITSELF, tags_local, one_gpu,     \
        from_itself_list, "Latency of each GPU's own memory for loads.")       \
    X(device_local_latency_tma, NVBW_BY_TMA, ON_ITSELF, tags_local,            \
        one_gpu_bulk, from_itself_list,                                        \
        "Latency of each GPU's own memory for bulk copies.")

#define TESTCASE(name_, initiator_, where_, tags_, needs_, metrics_, summary_) \
    static const struct work work_##name_ = { initiator_, where_ };            \
    static const struct nvbw_testcase name_ = { .size = sizeof name_,          \
        .name = #name_,                                                        \
        .summary = summary_,                                                   \
        .help = ABOUT,                                                         \
        .tags = tags_,                                                         \
        .needs = &needs_,                                                      \
        .params = params,                                                      \
        .metrics = metrics_,                                                   \
        .user = &work_##name_,                                                 \
        .run = run };
TESTCASES(TESTCASE)

#define TESTCASE_POINTER(                                                      \
    name_, initiator_, where_, tags_, needs_, metrics_, summary_)              \
    &name_,
static const struct nvbw_testcase *const testcases[] = {
    TESTCASES(TESTCASE_POINTER) & host_device_latency_loaded,
    &device_to_device_latency_loaded, &device_local_latency_loaded, NULL
};

const struct nvbw_plugin nvbw_plugin_v1 = { .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "latency",
    .version = "1.0.0",
    .summary = "Latency of memory as GPUs see it.",
    .licence = "Apache-2.0",
    .testcases = testcases };
