/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* transfer: copies between host and GPU and within a GPU by kind of memory,
 * kind of call, size and NUMA node, as bandwidthTest of the CUDA samples did
 * and further: what a copy costs beside its bytes is a figure of its own. */
#include "transfer.h"

#include <stdlib.h>

#include "transfer_fit.h"

/* ---- Parameters --------------------------------------------------------- */

enum memory_choice {
    MEMORY_PINNED,
    MEMORY_PAGEABLE,
    MEMORY_WRITE_COMBINED,
    MEMORY_HUGE_PAGE,
    MEMORY_MANAGED,
    MEMORY_RING
};
static const uint32_t memory_kinds[] = {
    [MEMORY_PINNED] = NVBW_MEM_PINNED,
    [MEMORY_PAGEABLE] = NVBW_MEM_PAGEABLE,
    [MEMORY_WRITE_COMBINED] = NVBW_MEM_WRITE_COMBINED,
    [MEMORY_HUGE_PAGE] = NVBW_MEM_HUGE_PAGE,
    [MEMORY_MANAGED] = NVBW_MEM_MANAGED,
    [MEMORY_RING] = NVBW_MEM_PAGEABLE,
};

static const struct nvbw_param memory_param = {
    .size = sizeof memory_param,
    .type = NVBW_TYPE_ENUM,
    .name = "memory",
    .help = "Kind of host memory.",
    .default_text = "pinned",
    .choices = (const char *const[]){ "pinned",
        "Page-locked: the GPU reads and writes it by itself.", "pageable",
        "As malloc gives it; the driver passes the bytes on.", "write_combined",
        "Page-locked and not cached by CPUs, which may only write it.",
        "huge_page", "Pageable, in huge pages.", "managed",
        "Moves between host and GPU by itself; the host's when a copy begins.",
        "ring",
        "Pageable, passed on by a thread through a small page-locked ring.",
        NULL },
};
static const struct nvbw_param api_param = {
    .size = sizeof api_param,
    .type = NVBW_TYPE_ENUM,
    .name = "api",
    .help = "Kind of call that copies.",
    .default_text = "async",
    .choices = (const char *const[]){ "async",
        "cuMemcpyAsync on a stream, one after another without waiting.", "sync",
        "cuMemcpy, which returns when the copy is over; by the host's clock.",
        NULL },
};
static const struct nvbw_param clock_param = {
    .size = sizeof clock_param,
    .type = NVBW_TYPE_ENUM,
    .name = "clock",
    .help = "Whose clock times asynchronous copies of page-locked memory and "
            "within a GPU; all others are timed by the host.",
    .default_text = "events",
    .choices = (const char *const[]){ "events",
        "The GPU's, with all copies queued before: calls cost nothing.", "host",
        "From before the first call to when the stream is empty.", NULL },
};
static const struct nvbw_param ring_param = {
    .size = sizeof ring_param,
    .type = NVBW_TYPE_SIZE,
    .name = "ring",
    .help = "Page-locked memory of memory = \"ring\", in four slots.",
    .default_text = "16 MiB",
    .min_text = "16 KiB",
    .max_text = "1 GiB",
};
static const struct nvbw_param ladder_param = {
    .size = sizeof ladder_param,
    .flags = NVBW_PARAM_LIST,
    .type = NVBW_TYPE_SIZE,
    .name = "ladder",
    .help = "Sizes of copies that a line is drawn through, three or more.",
    .default_text = "1 KiB, 4 KiB, 16 KiB, 64 KiB, 256 KiB, 1 MiB, 4 MiB, "
                    "16 MiB, 64 MiB",
    .min_text = "1 B",
    .max_text = "16 GiB",
};
static const struct nvbw_param *const host_params[] = { &memory_param,
    &api_param, &clock_param, &ring_param, NULL };
static const struct nvbw_param *const local_params[] = { &api_param,
    &clock_param, NULL };
static const struct nvbw_param *const host_fit_params[] = { &memory_param,
    &api_param, &clock_param, &ring_param, &ladder_param, NULL };
static const struct nvbw_param *const local_fit_params[] = { &api_param,
    &clock_param, &ladder_param, NULL };

/* ---- Metrics ------------------------------------------------------------ */

#define METRIC(symbol, flags_, unit_, better_, name_, help_, rows_)            \
    static const struct nvbw_metric symbol = { .size = sizeof symbol,          \
        .flags = (flags_),                                                     \
        .unit = (unit_),                                                       \
        .better = (better_),                                                   \
        .name = (name_),                                                       \
        .help = (help_),                                                       \
        .rows = (rows_),                                                       \
        .cols = "gpu" };

METRIC(bandwidth, 0, NVBW_UNIT_BYTES_PER_SECOND, NVBW_HIGHER, "bandwidth",
    "Payload of copies of the row's size.", "sizes")
METRIC(traffic, NVBW_METRIC_DERIVED, NVBW_UNIT_BYTES_PER_SECOND, NVBW_HIGHER,
    "traffic",
    "Bytes read and written, twice the payload: what bandwidthTest called "
    "device to device bandwidth.",
    "sizes")
METRIC(ladder, 0, NVBW_UNIT_BYTES_PER_SECOND, NVBW_HIGHER, "bandwidth",
    "Payload of copies of the row's size.", "ladder")
METRIC(call_cost, NVBW_METRIC_DERIVED, NVBW_UNIT_NANOSECONDS, NVBW_LOWER,
    "call_cost",
    "What a copy takes beside its bytes: where the line through the times of "
    "all sizes begins.",
    NULL)
METRIC(rate, NVBW_METRIC_DERIVED, NVBW_UNIT_BYTES_PER_SECOND, NVBW_HIGHER,
    "rate", "What copies without end would reach: the slope of that line.",
    NULL)
METRIC(half_size, NVBW_METRIC_DERIVED, NVBW_UNIT_BYTES, NVBW_LOWER, "half_size",
    "Size of a copy that reaches half of that rate.", NULL)
METRIC(by_node, 0, NVBW_UNIT_BYTES_PER_SECOND, NVBW_HIGHER, "bandwidth",
    "Payload between the memory of the row's node and the column's GPU.",
    "numa")

static const struct nvbw_metric *const host_metrics[] = { &bandwidth, NULL };
static const struct nvbw_metric *const local_metrics[] = { &traffic, &bandwidth,
    NULL };
static const struct nvbw_metric *const fit_metrics[] = { &call_cost, &rate,
    &half_size, &ladder, NULL };
static const struct nvbw_metric *const node_metrics[] = { &by_node, NULL };

/* ---- Flows -------------------------------------------------------------- */

static void set_memory(
    struct nvbw_ctx *ctx, struct nvbw_flow *flow, int to_gpu, int32_t node)
{
    const int64_t choice = ctx->host->param_int(ctx, "memory", 0);
    const uint32_t kind = memory_kinds[choice];

    if (to_gpu) {
        flow->src_memory = kind;
        flow->src_place = node;
    } else {
        flow->dst_memory = kind;
        flow->dst_place = node;
    }
    if (choice == MEMORY_RING) {
        flow->ring = (uint64_t)ctx->host->param_int(ctx, "ring", 0);
    }
}

struct nvbw_flow transfer_flow(
    struct nvbw_ctx *ctx, enum transfer_way way, uint32_t gpu, int32_t node)
{
    struct nvbw_flow flow = { .size = sizeof flow,
        .initiator = NVBW_BY_CE,
        .operation = NVBW_OP_COPY,
        .src_memory = NVBW_MEM_DEVICE,
        .dst_memory = NVBW_MEM_DEVICE,
        .src_place = (int32_t)gpu,
        .dst_place = (int32_t)gpu,
        .executor = (int32_t)gpu };

    if (way != TRANSFER_WITHIN) {
        set_memory(ctx, &flow, way == TRANSFER_DOWN, node);
    }
    return flow;
}

/* By the parameters api and clock. A ring is passed by asynchronous calls of
 * its own. */
static void set_calls(struct nvbw_ctx *ctx, struct nvbw_flow *flow)
{
    if (ctx->host->param_int(ctx, "api", 0) == 1 && flow->ring == 0) {
        flow->flags |= NVBW_FLOW_SYNC;
    }
    if (ctx->host->param_int(ctx, "clock", 0) == 1) {
        flow->flags |= NVBW_FLOW_HOST_CLOCK;
    }
}

static int32_t measure(struct nvbw_ctx *ctx, const struct nvbw_flow *flow)
{
    const struct nvbw_flow *const flows[] = { flow, NULL };
    const struct nvbw_measurement measurement = { .size = sizeof measurement,
        .flows = flows };

    return ctx->host->measure(ctx, &measurement);
}

/* ---- Sizes -------------------------------------------------------------- */

#define COPY_TRAFFIC 2.0

static int32_t derive_one(struct nvbw_ctx *ctx, uint32_t row, uint32_t gpu)
{
    const struct nvbw_cell cell = NVBW_CELL("traffic", row, gpu);
    const struct nvbw_cell from = NVBW_CELL("bandwidth", row, gpu);
    double figure = 0.0;

    if (!ctx->host->wanted(ctx, &cell)) {
        return NVBW_OK;
    }
    if (ctx->host->figure(ctx, &from, &figure) != NVBW_OK) {
        return ctx->host->skip(ctx, &cell, NVBW_SKIP_NOT_BUILT,
            "computed from the bandwidth, which has no figure: see there");
    }
    figure *= COPY_TRAFFIC;
    return ctx->host->put(ctx, &cell, &figure, 1);
}

static int32_t derive_traffic(struct nvbw_ctx *ctx, uint32_t gpu)
{
    const uint32_t sizes = ctx->host->param_count(ctx, "sizes");
    int32_t status = NVBW_OK;

    for (uint32_t row = 0; row < sizes && status >= 0; row++) {
        status = derive_one(ctx, row, gpu);
    }
    return status;
}

static int32_t measure_size(struct nvbw_ctx *ctx, uint32_t row, uint32_t gpu)
{
    const struct transfer *const transfer = ctx->testcase->user;
    const struct nvbw_cell cell = NVBW_CELL("bandwidth", row, gpu);
    struct nvbw_flow flow = transfer_flow(ctx, transfer->way, gpu, NVBW_NEAR);

    set_calls(ctx, &flow);
    flow.bytes = (uint64_t)ctx->host->param_int(ctx, transfer->sizes, row);
    flow.cell = &cell;
    return measure(ctx, &flow);
}

/* ---- The line through the times ----------------------------------------- */

enum { FIT_METRICS = 3 };
static const char *const fit_names[FIT_METRICS] = { "call_cost", "rate",
    "half_size" };

static int32_t skip_fit(
    struct nvbw_ctx *ctx, uint32_t gpu, int32_t reason, const char *text)
{
    int32_t status = NVBW_OK;

    for (uint32_t i = 0; i < FIT_METRICS && status >= 0; i++) {
        const struct nvbw_cell cell = NVBW_CELL(fit_names[i], 0, gpu);

        if (ctx->host->wanted(ctx, &cell)) {
            status = ctx->host->skip(ctx, &cell, reason, text);
        }
    }
    return status;
}

static int32_t put_fit(
    struct nvbw_ctx *ctx, uint32_t gpu, const struct transfer_fit *fit)
{
    const double values[FIT_METRICS] = { fit->call_cost_ns, fit->rate,
        fit->half_size };
    int32_t status = NVBW_OK;

    for (uint32_t i = 0; i < FIT_METRICS && status >= 0; i++) {
        const struct nvbw_cell cell = NVBW_CELL(fit_names[i], 0, gpu);

        if (ctx->host->wanted(ctx, &cell)) {
            status = ctx->host->put(ctx, &cell, &values[i], 1);
        }
    }
    return status;
}

/* points: sizes first, then bandwidths. */
static int32_t fit_points(
    struct nvbw_ctx *ctx, uint32_t gpu, uint32_t count, double *points)
{
    struct transfer_fit fit;

    for (uint32_t row = 0; row < count; row++) {
        const struct nvbw_cell cell = NVBW_CELL("bandwidth", row, gpu);

        points[row] = (double)ctx->host->param_int(ctx, "ladder", row);
        if (ctx->host->figure(ctx, &cell, &points[count + row]) != NVBW_OK) {
            return skip_fit(ctx, gpu, NVBW_SKIP_NOT_BUILT,
                "computed from the bandwidths of all sizes, of which one has "
                "no figure: see there");
        }
    }
    if (!transfer_fit_line(points, points + count, count, &fit)) {
        return skip_fit(ctx, gpu, NVBW_SKIP_EXCLUDED,
            "no line goes through the times of these sizes");
    }
    return put_fit(ctx, gpu, &fit);
}

static int32_t fit_gpu(struct nvbw_ctx *ctx, uint32_t gpu)
{
    const uint32_t count = ctx->host->param_count(ctx, "ladder");

    if (count < TRANSFER_FIT_LEAST) {
        return skip_fit(ctx, gpu, NVBW_SKIP_EXCLUDED,
            "a line takes three sizes or more, the ladder has fewer");
    }

    double *const points = calloc(2 * (size_t)count, sizeof *points);

    if (points == NULL) {
        return ctx->host->fail(
            ctx, NULL, NVBW_E_SYSTEM, 0, "no memory for the list of sizes");
    }

    const int32_t status = fit_points(ctx, gpu, count, points);

    free(points);
    return status;
}

/* What follows from a GPU's bandwidths. */
typedef int32_t derive_fn(struct nvbw_ctx *ctx, uint32_t gpu);

static int32_t run_sizes(struct nvbw_ctx *ctx, derive_fn *derive)
{
    const struct transfer *const transfer = ctx->testcase->user;
    const struct nvbw_place *const *const gpus = ctx->host->places(ctx, "gpu");
    const uint32_t sizes = ctx->host->param_count(ctx, transfer->sizes);
    int32_t status = NVBW_OK;

    for (uint32_t gpu = 0; gpus[gpu] != NULL && status >= 0; gpu++) {
        for (uint32_t row = 0; row < sizes && status >= 0; row++) {
            status = measure_size(ctx, row, gpu);
        }
        if (status >= 0 && derive != NULL) {
            status = derive(ctx, gpu);
        }
    }
    return status;
}

static int32_t run_plain(struct nvbw_ctx *ctx)
{
    return run_sizes(ctx, NULL);
}

static int32_t run_within(struct nvbw_ctx *ctx)
{
    return run_sizes(ctx, derive_traffic);
}

static int32_t run_fit(struct nvbw_ctx *ctx)
{
    return run_sizes(ctx, fit_gpu);
}

/* ---- NUMA nodes --------------------------------------------------------- */

static int32_t run_nodes(struct nvbw_ctx *ctx)
{
    const struct transfer *const transfer = ctx->testcase->user;
    const struct nvbw_place *const *const nodes =
        ctx->host->places(ctx, "numa");
    const struct nvbw_place *const *const gpus = ctx->host->places(ctx, "gpu");

    for (uint32_t row = 0; nodes[row] != NULL; row++) {
        for (uint32_t gpu = 0; gpus[gpu] != NULL; gpu++) {
            const struct nvbw_cell cell = NVBW_CELL("bandwidth", row, gpu);
            struct nvbw_flow flow =
                transfer_flow(ctx, transfer->way, gpu, (int32_t)row);

            set_calls(ctx, &flow);
            flow.cell = &cell;

            const int32_t status = measure(ctx, &flow);

            if (status < 0) {
                return status;
            }
        }
    }
    return NVBW_OK;
}

/* ---- Testcases ---------------------------------------------------------- */

static const struct nvbw_needs one_gpu = { .size = sizeof one_gpu,
    .min_gpus = 1 };
static const char *const host_tags[] = { "host", "ce", "bandwidth", NULL };
static const char *const local_tags[] = { "local", "ce", "bandwidth", NULL };

#define HELP_CLOCK                                                             \
    "Pageable, huge-page and managed memory, rings and api = \"sync\" are "    \
    "timed by the host's clock, from before the first call to when the "       \
    "stream is empty, by a thread on the node of the memory; all memory was "  \
    "touched before. Everything else is timed by the GPU's events, with the "  \
    "copies queued before they may start; clock = \"host\" times it as a "     \
    "program would see it. The record says which clock it was."
#define HELP_FIT                                                               \
    "\n\nA line is drawn through the times of copies of all sizes of the "     \
    "ladder: call_cost is what a copy takes beside its bytes, rate what its "  \
    "bytes would reach without that, half_size the size at which both take "   \
    "equally long. sizes and buffer_size have no effect."
#define HELP_SIZES                                                             \
    "\n\nThe parameter sizes is a ladder: quick is 32 MiB, shmoo goes from "   \
    "1 KiB to 64 MiB; buffer_size has no effect."
#define HELP_NODES                                                             \
    "\n\nThe memory is on the node of the row; where the kernel put it is "    \
    "read back. Write-combined and managed memory is the driver's to place. "  \
    "The size is buffer_size."

/* X(name, way, sizes, run, tags, params, metrics, help, summary) */
#define TESTCASES(X)                                                           \
    X(transfer_host_to_device, TRANSFER_DOWN, "sizes", run_plain, host_tags,   \
        host_params, host_metrics, HELP_CLOCK HELP_SIZES,                      \
        "Host to each GPU by kind of memory, kind of call and size.")          \
    X(transfer_device_to_host, TRANSFER_UP, "sizes", run_plain, host_tags,     \
        host_params, host_metrics, HELP_CLOCK HELP_SIZES,                      \
        "Each GPU to the host by kind of memory, kind of call and size.")      \
    X(transfer_device_to_device, TRANSFER_WITHIN, "sizes", run_within,         \
        local_tags, local_params, local_metrics, HELP_CLOCK HELP_SIZES,        \
        "Within each GPU by kind of call and size.")                           \
    X(transfer_fit_host_to_device, TRANSFER_DOWN, "ladder", run_fit,           \
        host_tags, host_fit_params, fit_metrics, HELP_CLOCK HELP_FIT,          \
        "What a copy from host to GPU costs beside its bytes.")                \
    X(transfer_fit_device_to_host, TRANSFER_UP, "ladder", run_fit, host_tags,  \
        host_fit_params, fit_metrics, HELP_CLOCK HELP_FIT,                     \
        "What a copy from GPU to host costs beside its bytes.")                \
    X(transfer_fit_device_to_device, TRANSFER_WITHIN, "ladder", run_fit,       \
        local_tags, local_fit_params, fit_metrics, HELP_CLOCK HELP_FIT,        \
        "What a copy within a GPU costs beside its bytes.")                    \
    X(transfer_host_to_device_numa, TRANSFER_DOWN, NULL, run_nodes, host_tags, \
        host_params, node_metrics, HELP_CLOCK HELP_NODES,                      \
        "Every NUMA node to every GPU.")                                       \
    X(transfer_device_to_host_numa, TRANSFER_UP, NULL, run_nodes, host_tags,   \
        host_params, node_metrics, HELP_CLOCK HELP_NODES,                      \
        "Every GPU to every NUMA node.")

#define TESTCASE(                                                              \
    name_, way_, sizes_, run_, tags_, params_, metrics_, help_, summary_)      \
    static const struct transfer transfer_of_##name_ = { way_, sizes_ };       \
    static const struct nvbw_testcase name_ = { .size = sizeof name_,          \
        .name = #name_,                                                        \
        .summary = summary_,                                                   \
        .help = help_,                                                         \
        .tags = tags_,                                                         \
        .needs = &one_gpu,                                                     \
        .params = params_,                                                     \
        .metrics = metrics_,                                                   \
        .user = &transfer_of_##name_,                                          \
        .run = run_ };
TESTCASES(TESTCASE)

#define TESTCASE_POINTER(                                                      \
    name_, way_, sizes_, run_, tags_, params_, metrics_, help_, summary_)      \
    &name_,
static const struct nvbw_testcase *const testcases[] = {
    TESTCASES(TESTCASE_POINTER) & transfer_batched_host_to_device,
    &transfer_batched_device_to_host, NULL
};

const struct nvbw_plugin nvbw_plugin_v1 = { .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "transfer",
    .version = "1.0.0",
    .summary = "Copies by kind of memory, kind of call, size and NUMA node.",
    .licence = "Apache-2.0",
    .testcases = testcases };
