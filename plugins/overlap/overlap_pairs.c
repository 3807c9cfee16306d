/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* overlap: do two things that a GPU can do at the same time happen at the same
 * time? Each is timed alone and both together, from the first's start to the
 * last's end, with the same copies; what was saved, of what could be saved at
 * most, is the efficiency. One run() serves all; a testcase is its pair. */
#include "nvbw/plugin.h"

/* ---- What is done ------------------------------------------------------- */

enum work { WORK_DOWN, WORK_UP, WORK_KERNEL, WORK_PEER };

/* A kernel reads so much, so often: long enough beside copies over PCIe, and
 * more than any cache has. */
#define KERNEL_BYTES (UINT64_C(64) << 20)
enum { KERNEL_READS = 32 };

struct pair {
    enum work one, other;
};

/* ---- Parameters --------------------------------------------------------- */

static const struct nvbw_param memory_param = {
    .size = sizeof memory_param,
    .type = NVBW_TYPE_ENUM,
    .name = "memory",
    .help = "Kind of host memory.",
    .default_text = "pinned",
    .choices = (const char *const[]){ "pinned",
        "Page-locked: the GPU copies by itself.", "pageable",
        "As malloc gives it: the thread that asks for a copy is kept busy.",
        NULL },
};
static const struct nvbw_param stream_param = {
    .size = sizeof stream_param,
    .type = NVBW_TYPE_ENUM,
    .name = "stream",
    .help = "Where work is put.",
    .default_text = "own",
    .choices = (const char *const[]){ "own", "Each on a stream of its own.",
        "default", "All on the default stream, as without streams.", NULL },
};
static const struct nvbw_param size_param = {
    .size = sizeof size_param,
    .type = NVBW_TYPE_SIZE,
    .name = "size",
    .help = "Bytes of a copy.",
    .default_text = "32 MiB",
    .min_text = "4 KiB",
    .max_text = "4 GiB",
};
static const struct nvbw_param count_param = {
    .size = sizeof count_param,
    .type = NVBW_TYPE_INT,
    .unit = NVBW_UNIT_COUNT,
    .name = "count",
    .help = "Copies of a sample, of each.",
    .default_text = "4",
    .min_text = "1",
    .max_text = "32",
};
static const struct nvbw_param streams_param = {
    .size = sizeof streams_param,
    .flags = NVBW_PARAM_LIST,
    .type = NVBW_TYPE_INT,
    .unit = NVBW_UNIT_COUNT,
    .name = "streams",
    .help = "Numbers of streams that copies are spread over.",
    .default_text = "1, 2, 4, 8",
    .min_text = "1",
    .max_text = "16",
};
static const struct nvbw_param *const pair_params[] = { &memory_param,
    &stream_param, &size_param, &count_param, NULL };
static const struct nvbw_param *const stream_params[] = { &memory_param,
    &size_param, &count_param, &streams_param, NULL };
enum { STREAMS_MOST = 16 };

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

METRIC(efficiency, NVBW_METRIC_DERIVED, NVBW_UNIT_RATIO, NVBW_HIGHER,
    "efficiency",
    "Time saved of the time that could be: the sum of the two alone less the "
    "time together, over the shorter of the two. 100 % is a full overlap, 0 % "
    "one after the other; less than that, they hold each other up. More than "
    "105 % cannot be, and where the shorter has less than 5 % of the longer's "
    "time nothing can be told: then neither this nor the verdict is given.",
    NULL)
METRIC(overlapped, NVBW_METRIC_DERIVED, NVBW_UNIT_COUNT, NVBW_HIGHER,
    "overlapped", "The verdict: 1 where half or more was saved, else 0.", NULL)
METRIC(first, 0, NVBW_UNIT_NANOSECONDS, NVBW_LOWER, "first",
    "All copies or reads of the first alone.", NULL)
METRIC(second, 0, NVBW_UNIT_NANOSECONDS, NVBW_LOWER, "second",
    "All copies of the second alone.", NULL)
METRIC(together, 0, NVBW_UNIT_NANOSECONDS, NVBW_LOWER, "together",
    "Both, from first start to last end.", NULL)
METRIC(bandwidth, 0, NVBW_UNIT_BYTES_PER_SECOND, NVBW_HIGHER, "bandwidth",
    "Payload of copies from the host on as many streams as the row says.",
    "streams")
static const struct nvbw_metric *const pair_metrics[] = { &efficiency,
    &overlapped, &first, &second, &together, NULL };
static const struct nvbw_metric *const stream_metrics[] = { &bandwidth, NULL };

#define OVERLAPPED_LEAST 0.5
/* More than all cannot be saved: beyond this it is the times that scatter. */
#define SAVED_MOST 1.05
/* Of the longer; what is shorter drowns in how that scatters. */
#define SHORTER_LEAST 0.05

/* ---- Flows -------------------------------------------------------------- */

static uint32_t count_gpus(struct nvbw_ctx *ctx)
{
    const struct nvbw_place *const *const gpus = ctx->host->places(ctx, "gpu");
    uint32_t count = 0;

    while (gpus[count] != NULL) {
        count++;
    }
    return count;
}

static void make_kernel(struct nvbw_flow *flow)
{
    flow->initiator = NVBW_BY_SM;
    flow->operation = NVBW_OP_READ;
    flow->dst_memory = NVBW_MEM_NONE;
    flow->dst_place = 0;
    flow->bytes = KERNEL_BYTES;
    flow->repeats = KERNEL_READS;
}

static struct nvbw_flow make_flow(
    struct nvbw_ctx *ctx, enum work work, uint32_t gpu, uint32_t gpus)
{
    const uint32_t host = ctx->host->param_int(ctx, "memory", 0) == 0
                              ? NVBW_MEM_PINNED
                              : NVBW_MEM_PAGEABLE;
    struct nvbw_flow flow = { .size = sizeof flow,
        .initiator = NVBW_BY_CE,
        .operation = NVBW_OP_COPY,
        .src_memory = NVBW_MEM_DEVICE,
        .dst_memory = NVBW_MEM_DEVICE,
        .src_place = (int32_t)gpu,
        .dst_place = (int32_t)gpu,
        .executor = (int32_t)gpu,
        .bytes = (uint64_t)ctx->host->param_int(ctx, "size", 0),
        .repeats = (uint64_t)ctx->host->param_int(ctx, "count", 0) };

    if (work == WORK_DOWN) {
        flow.src_memory = host;
        flow.src_place = NVBW_NEAR;
    } else if (work == WORK_UP) {
        flow.dst_memory = host;
        flow.dst_place = NVBW_NEAR;
    } else if (work == WORK_PEER) {
        flow.dst_place = (int32_t)((gpu + 1) % gpus);
    } else {
        make_kernel(&flow);
    }
    return flow;
}

static int32_t measure(struct nvbw_ctx *ctx,
    const struct nvbw_flow *const *flows, const struct nvbw_cell *total)
{
    const struct nvbw_measurement measurement = { .size = sizeof measurement,
        .flags = NVBW_MEASURE_ANY_ORDER,
        .flows = flows,
        .total = total };

    return ctx->host->measure(ctx, &measurement);
}

/* ---- Pairs -------------------------------------------------------------- */

static int32_t measure_pair(struct nvbw_ctx *ctx, uint32_t gpu, uint32_t gpus)
{
    const struct pair *const pair = ctx->testcase->user;
    const struct nvbw_cell cells[] = { NVBW_CELL("first", 0, gpu),
        NVBW_CELL("second", 0, gpu), NVBW_CELL("together", 0, gpu) };
    struct nvbw_flow one = make_flow(ctx, pair->one, gpu, gpus);
    struct nvbw_flow other = make_flow(ctx, pair->other, gpu, gpus);
    const struct nvbw_flow *const lists[][3] = { { &one, NULL, NULL },
        { &other, NULL, NULL }, { &one, &other, NULL } };
    int32_t status = NVBW_OK;

    if (ctx->host->param_int(ctx, "stream", 0) == 1) {
        one.flags |= NVBW_FLOW_DEFAULT_STREAM;
        other.flags |= NVBW_FLOW_DEFAULT_STREAM;
    }
    for (uint32_t i = 0; i < 3 && status >= 0; i++) {
        status = measure(ctx, lists[i], &cells[i]);
    }
    return status;
}

static int32_t put(
    struct nvbw_ctx *ctx, const struct nvbw_cell *cell, double value)
{
    return ctx->host->wanted(ctx, cell) ? ctx->host->put(ctx, cell, &value, 1)
                                        : NVBW_OK;
}

/* Both cells that are computed from times. */
static int32_t skip(
    struct nvbw_ctx *ctx, uint32_t gpu, int32_t reason, const char *why)
{
    const struct nvbw_cell both[] = { NVBW_CELL("efficiency", 0, gpu),
        NVBW_CELL("overlapped", 0, gpu) };
    int32_t status = NVBW_OK;

    for (uint32_t i = 0; i < 2 && status >= 0; i++) {
        if (ctx->host->wanted(ctx, &both[i])) {
            status = ctx->host->skip(ctx, &both[i], reason, why);
        }
    }
    return status;
}

static int32_t derive(struct nvbw_ctx *ctx, uint32_t gpu)
{
    const struct nvbw_cell from[] = { NVBW_CELL("first", 0, gpu),
        NVBW_CELL("second", 0, gpu), NVBW_CELL("together", 0, gpu) };
    const struct nvbw_cell saved = NVBW_CELL("efficiency", 0, gpu);
    const struct nvbw_cell verdict = NVBW_CELL("overlapped", 0, gpu);
    double times[3] = { 0.0, 0.0, 0.0 };

    for (uint32_t i = 0; i < 3; i++) {
        if (ctx->host->figure(ctx, &from[i], &times[i]) != NVBW_OK) {
            return skip(ctx, gpu, NVBW_SKIP_NOT_BUILT,
                "computed from three times, of which one has no figure: see "
                "there");
        }
    }

    const double shorter = times[0] < times[1] ? times[0] : times[1];
    const double longer = times[0] < times[1] ? times[1] : times[0];
    const double value = (times[0] + times[1] - times[2]) / shorter;

    if (shorter < SHORTER_LEAST * longer) {
        return skip(ctx, gpu, NVBW_SKIP_EXCLUDED,
            "the shorter of the two takes less than 5 % of the longer's time, "
            "so that it cannot be told whether they overlap; take copies that "
            "are nearer to each other in time");
    }
    if (value > SAVED_MOST) {
        return skip(ctx, gpu, NVBW_SKIP_EXCLUDED,
            "both together took less time than the longer of them alone, by "
            "more than 5 % of the shorter: the times scatter by more than "
            "there was to save; take more copies or larger ones");
    }

    const int32_t status = put(ctx, &saved, value);

    return status < 0
               ? status
               : put(ctx, &verdict, value >= OVERLAPPED_LEAST ? 1.0 : 0.0);
}

static int32_t run_pair(struct nvbw_ctx *ctx)
{
    const uint32_t gpus = count_gpus(ctx);
    int32_t status = NVBW_OK;

    for (uint32_t gpu = 0; gpu < gpus && status >= 0; gpu++) {
        status = measure_pair(ctx, gpu, gpus);
        if (status >= 0) {
            status = derive(ctx, gpu);
        }
    }
    return status;
}

/* ---- Streams ------------------------------------------------------------ */

static int32_t measure_streams(
    struct nvbw_ctx *ctx, uint32_t row, uint32_t gpu, uint32_t gpus)
{
    const struct nvbw_cell cell = NVBW_CELL("bandwidth", row, gpu);
    const int64_t streams = ctx->host->param_int(ctx, "streams", row);
    const struct nvbw_flow flow = make_flow(ctx, WORK_DOWN, gpu, gpus);
    const struct nvbw_flow *list[STREAMS_MOST + 1] = { NULL };

    for (int64_t i = 0; i < streams && i < STREAMS_MOST; i++) {
        list[i] = &flow;
    }
    return measure(ctx, list, &cell);
}

static int32_t run_streams(struct nvbw_ctx *ctx)
{
    const uint32_t rows = ctx->host->param_count(ctx, "streams");
    const uint32_t gpus = count_gpus(ctx);
    int32_t status = NVBW_OK;

    for (uint32_t gpu = 0; gpu < gpus; gpu++) {
        for (uint32_t row = 0; row < rows && status >= 0; row++) {
            status = measure_streams(ctx, row, gpu, gpus);
        }
    }
    return status;
}

/* ---- Testcases ---------------------------------------------------------- */

static const struct nvbw_needs one_gpu = { .size = sizeof one_gpu,
    .min_gpus = 1 };
static const struct nvbw_needs two_gpus = {
    .size = sizeof two_gpus, .features = NVBW_NEED_PEER, .min_gpus = 2
};
static const char *const tags[] = { "host", "overlap", NULL };

#define HELP                                                                   \
    "Each alone and both together, the same copies each time. Page-locked "    \
    "copies are queued before any of them may start and timed by the GPU's "   \
    "events; pageable ones keep the one thread that asks for them busy and "   \
    "are timed by the host's clock. On the default stream nothing overlaps. "  \
    "Every byte is compared."

/* X(name, one, other, needs, summary) */
#define PAIRS(X)                                                               \
    X(overlap_both_ways, WORK_DOWN, WORK_UP, one_gpu,                          \
        "Host to each GPU with the way back.")                                 \
    X(overlap_copy_kernel, WORK_KERNEL, WORK_DOWN, one_gpu,                    \
        "A kernel that reads each GPU's memory with copies from the host.")    \
    X(overlap_copy_peer, WORK_PEER, WORK_DOWN, two_gpus,                       \
        "Each GPU to the next with copies from the host.")

#define PAIR(name_, one_, other_, needs_, summary_)                            \
    static const struct pair pair_##name_ = { one_, other_ };                  \
    static const struct nvbw_testcase name_ = { .size = sizeof name_,          \
        .name = #name_,                                                        \
        .summary = summary_,                                                   \
        .help = HELP,                                                          \
        .tags = tags,                                                          \
        .needs = &needs_,                                                      \
        .params = pair_params,                                                 \
        .metrics = pair_metrics,                                               \
        .user = &pair_##name_,                                                 \
        .run = run_pair };
PAIRS(PAIR)

static const struct nvbw_testcase overlap_streams = {
    .size = sizeof overlap_streams,
    .name = "overlap_streams",
    .summary = "Host to each GPU on one stream and on several.",
    .help = "Copies from the host, as many on each stream. One copy engine "
            "works for a direction, so more streams are not to add anything; "
            "where they do, one stream leaves gaps.",
    .tags = tags,
    .needs = &one_gpu,
    .params = stream_params,
    .metrics = stream_metrics,
    .run = run_streams,
};

#define PAIR_POINTER(name_, one_, other_, needs_, summary_) &name_,
static const struct nvbw_testcase *const testcases[] = {
    PAIRS(PAIR_POINTER) & overlap_streams, NULL
};

const struct nvbw_plugin nvbw_plugin_v1 = { .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "overlap",
    .version = "1.0.0",
    .summary = "Whether copies and kernels happen at the same time.",
    .licence = "Apache-2.0",
    .testcases = testcases };
