/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Many small copies in one call of cuMemcpyBatchAsync, against as many calls of
 * cuMemcpyAsync: both by the host's clock, for calls are what the batch saves.
 * The page-locked memory of the host nearest to the GPU. */
#include "transfer.h"

/* The driver's, of CUDA 12.8. */
enum { BATCH_CUDA = 12080, ORDER_OF_STREAM = 1, CALL_COPIES = 200 };
struct copy_place {
    uint32_t type;
    int32_t id;
};
struct copy_attributes {
    uint32_t source_order;
    struct copy_place source_hint, destination_hint; /* of managed memory */
    uint32_t flags;
};
typedef uint32_t batch_fn(uint64_t *dsts, uint64_t *srcs, size_t *sizes,
    size_t count, struct copy_attributes *attributes, size_t *first,
    size_t attributes_count, size_t *out_failed, void *stream);

static const struct nvbw_param batch_param = {
    .size = sizeof batch_param,
    .type = NVBW_TYPE_INT,
    .unit = NVBW_UNIT_COUNT,
    .name = "batch",
    .help = "Copies of one batch, and of as many single calls.",
    .default_text = "64",
    .min_text = "2",
    .max_text = "200",
};
static const struct nvbw_param *const params[] = { &batch_param, NULL };

#define METRIC(symbol, flags_, unit_, name_, help_)                            \
    static const struct nvbw_metric symbol = { .size = sizeof symbol,          \
        .flags = (flags_),                                                     \
        .unit = (unit_),                                                       \
        .better = NVBW_HIGHER,                                                 \
        .name = (name_),                                                       \
        .help = (help_),                                                       \
        .rows = "sizes",                                                       \
        .cols = "gpu" };
METRIC(batched, 0, NVBW_UNIT_BYTES_PER_SECOND, "batched",
    "Payload of copies of the row's size, all in one call.")
METRIC(single, 0, NVBW_UNIT_BYTES_PER_SECOND, "single",
    "Payload of the same copies, a call each.")
METRIC(
    gain, NVBW_METRIC_DERIVED, NVBW_UNIT_RATIO, "gain", "Batched over single.")
static const struct nvbw_metric *const metrics[] = { &batched, &single, &gain,
    NULL };

static int32_t enqueue(struct nvbw_ctx *ctx, const struct nvbw_work *work)
{
    batch_fn *const copy =
        (batch_fn *)ctx->host->driver(ctx, "cuMemcpyBatchAsync", BATCH_CUDA);
    struct copy_attributes attributes = { .source_order = ORDER_OF_STREAM };
    uint64_t dsts[CALL_COPIES];
    uint64_t srcs[CALL_COPIES];
    size_t sizes[CALL_COPIES];
    size_t first = 0;
    size_t failed = 0;

    if (copy == NULL || work->repeats > CALL_COPIES) {
        return NVBW_E_CUDA;
    }
    for (uint64_t i = 0; i < work->repeats; i++) {
        dsts[i] = work->dst + i * work->dst_step;
        srcs[i] = work->src + i * work->src_step;
        sizes[i] = work->bytes;
    }
    return copy(dsts, srcs, sizes, work->repeats, &attributes, &first, 1,
               &failed, work->stream) == 0
               ? NVBW_OK
               : NVBW_E_CUDA;
}

static int32_t measure(struct nvbw_ctx *ctx, const struct nvbw_cell *cell,
    uint32_t gpu, int in_batch)
{
    const struct transfer *const transfer = ctx->testcase->user;
    const int to_gpu = transfer->way == TRANSFER_DOWN;
    const struct nvbw_flow flow = { .size = sizeof flow,
        .flags = NVBW_FLOW_HOST_CLOCK,
        .initiator = in_batch ? NVBW_BY_PLUGIN : NVBW_BY_CE,
        .operation = NVBW_OP_COPY,
        .src_memory = to_gpu ? NVBW_MEM_PINNED : NVBW_MEM_DEVICE,
        .dst_memory = to_gpu ? NVBW_MEM_DEVICE : NVBW_MEM_PINNED,
        .src_place = to_gpu ? NVBW_NEAR : (int32_t)gpu,
        .dst_place = to_gpu ? (int32_t)gpu : NVBW_NEAR,
        .executor = (int32_t)gpu,
        .bytes = (uint64_t)ctx->host->param_int(ctx, "sizes", cell->row),
        .cell = cell,
        .repeats = (uint64_t)ctx->host->param_int(ctx, "batch", 0),
        .enqueue = in_batch ? enqueue : NULL };
    const struct nvbw_flow *const flows[] = { &flow, NULL };
    const struct nvbw_measurement measurement = { .size = sizeof measurement,
        .flows = flows };

    return ctx->host->measure(ctx, &measurement);
}

static int32_t derive_gain(struct nvbw_ctx *ctx,
    const struct nvbw_cell *in_batch, const struct nvbw_cell *alone)
{
    const struct nvbw_cell cell =
        NVBW_CELL("gain", in_batch->row, in_batch->col);
    double one = 0.0;
    double other = 0.0;

    if (!ctx->host->wanted(ctx, &cell)) {
        return NVBW_OK;
    }
    if (ctx->host->figure(ctx, in_batch, &one) != NVBW_OK ||
        ctx->host->figure(ctx, alone, &other) != NVBW_OK || !(other > 0.0)) {
        return ctx->host->skip(ctx, &cell, NVBW_SKIP_NOT_BUILT,
            "computed from two bandwidths, of which one has no figure: see "
            "there");
    }
    one /= other;
    return ctx->host->put(ctx, &cell, &one, 1);
}

static int32_t measure_size(struct nvbw_ctx *ctx, uint32_t row, uint32_t gpu)
{
    const struct nvbw_cell in_batch = NVBW_CELL("batched", row, gpu);
    const struct nvbw_cell alone = NVBW_CELL("single", row, gpu);
    int32_t status = measure(ctx, &in_batch, gpu, 1);

    if (status >= 0) {
        status = measure(ctx, &alone, gpu, 0);
    }
    return status < 0 ? status : derive_gain(ctx, &in_batch, &alone);
}

int32_t transfer_batch_run(struct nvbw_ctx *ctx)
{
    const struct nvbw_place *const *const gpus = ctx->host->places(ctx, "gpu");
    const uint32_t sizes = ctx->host->param_count(ctx, "sizes");

    for (uint32_t gpu = 0; gpus[gpu] != NULL; gpu++) {
        for (uint32_t row = 0; row < sizes; row++) {
            const int32_t status = measure_size(ctx, row, gpu);

            if (status < 0) {
                return status;
            }
        }
    }
    return NVBW_OK;
}

static const struct nvbw_needs needs = {
    .size = sizeof needs, .min_gpus = 1, .min_driver = BATCH_CUDA
};
static const char *const tags[] = { "host", "ce", "bandwidth", NULL };
static const struct transfer down = { TRANSFER_DOWN, "sizes" };
static const struct transfer up = { TRANSFER_UP, "sizes" };

#define HELP                                                                   \
    "The same copies between page-locked memory and the GPU twice: all in "    \
    "one call of cuMemcpyBatchAsync, and by a call of cuMemcpyAsync each. "    \
    "Both are timed by the host's clock, from before the first call to when "  \
    "the stream is empty. Worth while with small sizes: sizes = [ \"4 KiB\", " \
    "\"64 KiB\" ]. Needs a driver of CUDA 12.8."

const struct nvbw_testcase transfer_batched_host_to_device = {
    .size = sizeof transfer_batched_host_to_device,
    .name = "transfer_batched_host_to_device",
    .summary =
        "Host to each GPU, many copies in one call against single calls.",
    .help = HELP,
    .tags = tags,
    .needs = &needs,
    .params = params,
    .metrics = metrics,
    .user = &down,
    .run = transfer_batch_run,
};
const struct nvbw_testcase transfer_batched_device_to_host = {
    .size = sizeof transfer_batched_device_to_host,
    .name = "transfer_batched_device_to_host",
    .summary = "Each GPU to the host, many copies in one call against single "
               "calls.",
    .help = HELP,
    .tags = tags,
    .needs = &needs,
    .params = params,
    .metrics = metrics,
    .user = &up,
    .run = transfer_batch_run,
};
