/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* launch: what it costs to ask a GPU for work that itself is nothing.
 * Most by the host's clock, since that is who waits; the gap from one kernel to
 * the next by events, with all of them queued before the first may run. One
 * run() serves all; a testcase is its list of figures. */
#include "launch_calls.h"

/* What fits behind the engine's gate. */
enum { GAP_LAUNCHES_MOST = 200 };

/* A figure: what is launched, and how. */
struct figure {
    const char *metric;
    enum launch_what what;
    int waits;
    int by_events;
    int many; /* 1: a graph of as many nodes as the parameter says */
};

/* Of a testcase; `derived` is (many - alone) over the nodes between. */
struct work {
    const struct figure *figures;
    uint32_t count;
    const char *alone, *many, *derived;
};

/* ---- Parameters --------------------------------------------------------- */

static const struct nvbw_param launches_param = {
    .size = sizeof launches_param,
    .type = NVBW_TYPE_INT,
    .unit = NVBW_UNIT_COUNT,
    .name = "launches",
    .help = "Launches of a sample; of the gap between kernels 200 at most.",
    .default_text = "2000",
    .min_text = "1",
    .max_text = "100000",
};
static const struct nvbw_param nodes_param = {
    .size = sizeof nodes_param,
    .type = NVBW_TYPE_INT,
    .unit = NVBW_UNIT_COUNT,
    .name = "kernels",
    .help = "Kernels of the larger graph, each after the one before.",
    .default_text = "20",
    .min_text = "2",
    .max_text = "1000",
};
static const struct nvbw_param *const params[] = { &launches_param, NULL };
static const struct nvbw_param *const graph_params[] = { &launches_param,
    &nodes_param, NULL };

/* ---- Running ------------------------------------------------------------ */

static int32_t measure_figure(
    struct nvbw_ctx *ctx, const struct figure *figure, uint32_t gpu)
{
    const struct nvbw_cell cell = NVBW_CELL(figure->metric, 0, gpu);
    const uint64_t launches =
        (uint64_t)ctx->host->param_int(ctx, "launches", 0);
    struct launch launch = { .what = figure->what,
        .waits = figure->waits,
        .nodes = figure->many
                     ? (uint64_t)ctx->host->param_int(ctx, "kernels", 0)
                     : 1 };
    const struct nvbw_flow flow = { .size = sizeof flow,
        .flags = figure->by_events ? 0 : NVBW_FLOW_HOST_CLOCK,
        .initiator = NVBW_BY_PLUGIN,
        .operation = NVBW_OP_COPY,
        .executor = (int32_t)gpu,
        .cell = &cell,
        .repeats = figure->by_events && launches > GAP_LAUNCHES_MOST
                       ? (uint64_t)GAP_LAUNCHES_MOST
                       : launches,
        .enqueue = launch_enqueue,
        .user = &launch };
    const struct nvbw_flow *const flows[] = { &flow, NULL };
    const struct nvbw_measurement measurement = { .size = sizeof measurement,
        .flows = flows };
    const int32_t status = ctx->host->measure(ctx, &measurement);

    launch_end(&launch);
    return status;
}

static int32_t derive(
    struct nvbw_ctx *ctx, const struct work *work, uint32_t gpu)
{
    const struct nvbw_cell alone = NVBW_CELL(work->alone, 0, gpu);
    const struct nvbw_cell many = NVBW_CELL(work->many, 0, gpu);
    const struct nvbw_cell cell = NVBW_CELL(work->derived, 0, gpu);
    const int64_t nodes = ctx->host->param_int(ctx, "kernels", 0);
    double one = 0.0;
    double all = 0.0;

    if (!ctx->host->wanted(ctx, &cell)) {
        return NVBW_OK;
    }
    if (ctx->host->figure(ctx, &alone, &one) != NVBW_OK ||
        ctx->host->figure(ctx, &many, &all) != NVBW_OK) {
        return ctx->host->skip(ctx, &cell, NVBW_SKIP_NOT_BUILT,
            "computed from two latencies, of which one has no figure: see "
            "there");
    }
    if (all < one) {
        return ctx->host->skip(ctx, &cell, NVBW_SKIP_EXCLUDED,
            "the larger graph took no longer than one kernel: more nodes would "
            "tell");
    }
    all = (all - one) / (double)(nodes - 1);
    return ctx->host->put(ctx, &cell, &all, 1);
}

static int32_t run_gpu(
    struct nvbw_ctx *ctx, const struct work *work, uint32_t gpu)
{
    for (uint32_t i = 0; i < work->count; i++) {
        const int32_t status = measure_figure(ctx, &work->figures[i], gpu);

        if (status < 0) {
            return status;
        }
    }
    return work->derived == NULL ? NVBW_OK : derive(ctx, work, gpu);
}

static int32_t run(struct nvbw_ctx *ctx)
{
    const struct work *const work = ctx->testcase->user;
    const struct nvbw_place *const *const gpus = ctx->host->places(ctx, "gpu");

    for (uint32_t gpu = 0; gpus[gpu] != NULL; gpu++) {
        const int32_t status = run_gpu(ctx, work, gpu);

        if (status < 0) {
            return status;
        }
    }
    return NVBW_OK;
}

/* ---- Metrics ------------------------------------------------------------ */

#define METRIC(symbol, flags_, name_, help_)                                   \
    static const struct nvbw_metric symbol = { .size = sizeof symbol,          \
        .flags = (flags_),                                                     \
        .unit = NVBW_UNIT_NANOSECONDS,                                         \
        .better = NVBW_LOWER,                                                  \
        .name = (name_),                                                       \
        .help = (help_),                                                       \
        .cols = "gpu" };
METRIC(kernel_latency, 0, "latency",
    "Host's clock: an empty kernel, from its launch to when "
    "cuStreamSynchronize returns.")
METRIC(kernel_interval, 0, "interval",
    "Host's clock: empty kernels launched back to back, per launch, until the "
    "stream is empty; 1e9 over it are launches per second.")
METRIC(kernel_gap, 0, "gap",
    "Events: from one empty kernel to the next, all queued before the first "
    "may run.")
METRIC(graph_latency, 0, "latency",
    "Host's clock: a graph of one empty kernel, from its launch to when "
    "cuStreamSynchronize returns.")
METRIC(graph_many, 0, "many",
    "Host's clock: the same of a graph of `kernels` empty kernels, one after "
    "another.")
METRIC(graph_node, NVBW_METRIC_DERIVED, "per_node",
    "many less latency, per node more.")
METRIC(graph_interval, 0, "interval",
    "Host's clock: graphs of one empty kernel launched back to back, per "
    "launch, until the stream is empty.")
METRIC(event_record, 0, "record",
    "Host's clock: events recorded back to back on an idle stream, per event, "
    "until the stream is empty.")
METRIC(event_latency, 0, "latency",
    "Host's clock: an event, from cuEventRecord on an idle stream to when "
    "cuEventSynchronize returns.")

static const struct nvbw_metric *const kernel_metrics[] = { &kernel_latency,
    &kernel_interval, &kernel_gap, NULL };
static const struct nvbw_metric *const graph_metrics[] = { &graph_latency,
    &graph_many, &graph_node, &graph_interval, NULL };
static const struct nvbw_metric *const event_metrics[] = { &event_record,
    &event_latency, NULL };

/* ---- Testcases ---------------------------------------------------------- */

static const struct figure kernel_figures[] = {
    { .metric = "latency", .what = LAUNCH_KERNEL, .waits = 1 },
    { .metric = "interval", .what = LAUNCH_KERNEL },
    { .metric = "gap", .what = LAUNCH_KERNEL, .by_events = 1 },
};
static const struct figure graph_figures[] = {
    { .metric = "latency", .what = LAUNCH_GRAPH, .waits = 1 },
    { .metric = "many", .what = LAUNCH_GRAPH, .waits = 1, .many = 1 },
    { .metric = "interval", .what = LAUNCH_GRAPH },
};
static const struct figure event_figures[] = {
    { .metric = "record", .what = LAUNCH_EVENT },
    { .metric = "latency", .what = LAUNCH_EVENT, .waits = 1 },
};

#define COUNT(list) (sizeof(list) / sizeof *(list))
static const struct work kernel_work = { .figures = kernel_figures,
    .count = COUNT(kernel_figures) };
static const struct work graph_work = { .figures = graph_figures,
    .count = COUNT(graph_figures),
    .alone = "latency",
    .many = "many",
    .derived = "per_node" };
static const struct work event_work = { .figures = event_figures,
    .count = COUNT(event_figures) };

static const struct nvbw_needs one_gpu = { .size = sizeof one_gpu,
    .min_gpus = 1 };
/* cuGraphInstantiateWithFlags. */
static const struct nvbw_needs graphs = {
    .size = sizeof graphs, .min_gpus = 1, .min_driver = 11040
};
static const char *const tags[] = { "launch", "latency", NULL };

#define ABOUT                                                                  \
    "A sample is `launches` of them and its figure the mean, so that a call "  \
    "of the clock does not show; the record names the clock. The host's "      \
    "thread "                                                                  \
    "is on the NUMA node nearest to the GPU, the calls are those of the "      \
    "driver's API, and how they wait (spin, yield or sleep) is up to the "     \
    "driver. Nothing is moved, so there is nothing to verify."

static const struct nvbw_testcase launch_kernel = {
    .size = sizeof launch_kernel,
    .name = "launch_kernel",
    .summary = "What launching an empty kernel costs.",
    .help = "An empty kernel of one thread on a stream of its own.\n\n" ABOUT,
    .tags = tags,
    .needs = &one_gpu,
    .params = params,
    .metrics = kernel_metrics,
    .user = &kernel_work,
    .run = run,
};
static const struct nvbw_testcase launch_graph = {
    .size = sizeof launch_graph,
    .name = "launch_graph",
    .summary = "What launching a graph of empty kernels costs, and each node "
               "more.",
    .help = "Graphs of empty kernels, made and instantiated beforehand; what "
            "that costs is not in any figure. Needs a driver of CUDA "
            "11.4.\n\n" ABOUT,
    .tags = tags,
    .needs = &graphs,
    .params = graph_params,
    .metrics = graph_metrics,
    .user = &graph_work,
    .run = run,
};
static const struct nvbw_testcase launch_event = {
    .size = sizeof launch_event,
    .name = "launch_event",
    .summary = "What recording an event and waiting for it costs.",
    .help = "An event that keeps the time, on an idle stream.\n\n" ABOUT,
    .tags = tags,
    .needs = &one_gpu,
    .params = params,
    .metrics = event_metrics,
    .user = &event_work,
    .run = run,
};

static const struct nvbw_testcase *const testcases[] = { &launch_kernel,
    &launch_graph, &launch_event, NULL };

const struct nvbw_plugin nvbw_plugin_v1 = { .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "launch",
    .version = "1.0.0",
    .summary = "What it costs to ask a GPU for work.",
    .licence = "Apache-2.0",
    .testcases = testcases };
