/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* access: what the way in which a kernel goes through memory makes of its rate.
 * Memory moves sectors of 32 bytes, whole ones; of what is moved only what is
 * accessed counts. */
#include "nvbw/plugin.h"

/* ---- Parameters --------------------------------------------------------- */

#define WIDTHS                                                                 \
    (const char *const[])                                                      \
    {                                                                          \
        "4", "4 bytes.", "8", "8 bytes.", "16", "16 bytes.", NULL              \
    }
enum { WIDTH_LEAST = 4, WIDTH_MOST = 16 };

static const struct nvbw_param element_param = {
    .size = sizeof element_param,
    .type = NVBW_TYPE_ENUM,
    .name = "element",
    .help = "Bytes of an access.",
    .default_text = "4",
    .choices = WIDTHS,
};
static const struct nvbw_param widths_param = {
    .size = sizeof widths_param,
    .flags = NVBW_PARAM_LIST,
    .type = NVBW_TYPE_ENUM,
    .name = "widths",
    .help = "Bytes of an access, one or more.",
    .default_text = "4, 8, 16",
    .choices = WIDTHS,
};
static const struct nvbw_param strides_param = {
    .size = sizeof strides_param,
    .flags = NVBW_PARAM_LIST,
    .type = NVBW_TYPE_INT,
    .unit = NVBW_UNIT_COUNT,
    .name = "strides",
    .help = "Elements from one access to the next.",
    .default_text = "1, 2, 4, 8, 16, 32, 64",
    .min_text = "1",
    .max_text = "65536",
};
static const struct nvbw_param offsets_param = {
    .size = sizeof offsets_param,
    .flags = NVBW_PARAM_LIST,
    .type = NVBW_TYPE_INT,
    .unit = NVBW_UNIT_COUNT,
    .name = "offsets",
    .help =
        "Elements by which both sides begin behind a multiple of 256 bytes.",
    .default_text = "0, 1, 2, 4, 8, 16, 31",
    .min_text = "0",
    .max_text = "65536",
};
static const struct nvbw_param *const stride_params[] = { &strides_param,
    &element_param, NULL };
static const struct nvbw_param *const offset_params[] = { &offsets_param,
    &element_param, NULL };
static const struct nvbw_param *const width_params[] = { &widths_param, NULL };

/* ---- Metrics ------------------------------------------------------------ */

#define METRIC(symbol, flags_, unit_, name_, help_, rows_)                     \
    static const struct nvbw_metric symbol = { .size = sizeof symbol,          \
        .flags = (flags_),                                                     \
        .unit = (unit_),                                                       \
        .better = NVBW_HIGHER,                                                 \
        .name = (name_),                                                       \
        .help = (help_),                                                       \
        .rows = (rows_),                                                       \
        .cols = "gpu" }
#define HELP_USEFUL                                                            \
    "Bytes accessed, each counted once; not those that come with them."
#define HELP_BASE                                                              \
    "The same bytes accessed one after another, from a multiple of 256 on."
#define HELP_PART "What is useful, of the coalesced rate."

#define METRICS(name, rows_, base_rows_)                                       \
    METRIC(name##_base, 0, NVBW_UNIT_BYTES_PER_SECOND, "coalesced", HELP_BASE, \
        base_rows_);                                                           \
    METRIC(name##_useful, 0, NVBW_UNIT_BYTES_PER_SECOND, "useful",             \
        HELP_USEFUL, rows_);                                                   \
    METRIC(name##_part, NVBW_METRIC_DERIVED, NVBW_UNIT_RATIO, "of_coalesced",  \
        HELP_PART, rows_);                                                     \
    static const struct nvbw_metric *const name##_metrics[] = { &name##_part,  \
        &name##_useful, &name##_base, NULL }
METRICS(stride, "strides", NULL);
METRICS(read_stride, "strides", NULL);
METRICS(write_stride, "strides", NULL);
METRICS(offset, "offsets", NULL);
METRICS(width, "widths", NULL);
METRICS(random, "widths", "widths");

/* ---- What a testcase does ------------------------------------------------ */

/* The accesses of one figure. */
struct accesses {
    uint32_t width, step; /* step: elements, 0: at random */
    uint64_t offset;      /* bytes */
};

struct access {
    uint32_t operation;
    uint32_t base_has_rows;
    const char *axis; /* LIST parameter of the rows */
    /* Of a row, and of what it is compared with. */
    void (*describe)(struct nvbw_ctx *ctx, uint32_t row,
        struct accesses *useful, struct accesses *base);
};

/* The widths double from choice to choice. */
static uint32_t width_of(struct nvbw_ctx *ctx, const char *name, uint32_t i)
{
    return (uint32_t)WIDTH_LEAST << ctx->host->param_int(ctx, name, i);
}

static void describe_stride(struct nvbw_ctx *ctx, uint32_t row,
    struct accesses *useful, struct accesses *base)
{
    useful->width = base->width = width_of(ctx, "element", 0);
    useful->step = (uint32_t)ctx->host->param_int(ctx, "strides", row);
}

static void describe_offset(struct nvbw_ctx *ctx, uint32_t row,
    struct accesses *useful, struct accesses *base)
{
    useful->width = base->width = width_of(ctx, "element", 0);
    useful->offset =
        (uint64_t)ctx->host->param_int(ctx, "offsets", row) * useful->width;
}

static void describe_width(struct nvbw_ctx *ctx, uint32_t row,
    struct accesses *useful, struct accesses *base)
{
    useful->width = width_of(ctx, "widths", row);
    base->width = WIDTH_MOST;
}

static void describe_random(struct nvbw_ctx *ctx, uint32_t row,
    struct accesses *useful, struct accesses *base)
{
    useful->width = base->width = width_of(ctx, "widths", row);
    useful->step = 0;
}

static int32_t measure(struct nvbw_ctx *ctx, uint32_t gpu,
    const struct accesses *accesses, const struct nvbw_cell *cell)
{
    const struct access *const access = ctx->testcase->user;
    const int reads = access->operation != NVBW_OP_WRITE;
    const int writes = access->operation != NVBW_OP_READ;
    const struct nvbw_flow flow = { .size = sizeof flow,
        .initiator = NVBW_BY_SM,
        .operation = access->operation,
        .src_memory = reads ? NVBW_MEM_DEVICE : NVBW_MEM_NONE,
        .dst_memory = writes ? NVBW_MEM_DEVICE : NVBW_MEM_NONE,
        .src_place = reads ? (int32_t)gpu : 0,
        .dst_place = writes ? (int32_t)gpu : 0,
        .executor = (int32_t)gpu,
        .stride = accesses->step > 0 ? accesses->step * accesses->width
                                     : NVBW_STRIDE_RANDOM,
        .element = accesses->width,
        .offset = accesses->offset,
        .cell = cell };
    const struct nvbw_flow *const flows[] = { &flow, NULL };
    const struct nvbw_measurement measurement = { .size = sizeof measurement,
        .flows = flows };

    return ctx->host->measure(ctx, &measurement);
}

static int32_t derive(struct nvbw_ctx *ctx, const struct nvbw_cell *useful,
    const struct nvbw_cell *base)
{
    const struct nvbw_cell cell =
        NVBW_CELL("of_coalesced", useful->row, useful->col);
    double part = 0.0;
    double whole = 0.0;

    if (!ctx->host->wanted(ctx, &cell)) {
        return NVBW_OK;
    }
    if (ctx->host->figure(ctx, useful, &part) != NVBW_OK) {
        return ctx->host->skip(ctx, &cell, NVBW_SKIP_NOT_BUILT,
            "computed from the useful rate, which has no figure: see there");
    }
    if (ctx->host->figure(ctx, base, &whole) != NVBW_OK || !(whole > 0.0)) {
        return ctx->host->skip(ctx, &cell, NVBW_SKIP_NOT_BUILT,
            "computed from the coalesced rate, which has no figure: see there");
    }
    part /= whole;
    return ctx->host->put(ctx, &cell, &part, 1);
}

static int32_t run_row(struct nvbw_ctx *ctx, uint32_t row, uint32_t gpu)
{
    const struct access *const access = ctx->testcase->user;
    const uint32_t base_row = access->base_has_rows ? row : 0;
    const struct nvbw_cell base_cell = NVBW_CELL("coalesced", base_row, gpu);
    const struct nvbw_cell cell = NVBW_CELL("useful", row, gpu);
    struct accesses useful = { .step = 1 };
    struct accesses base = { .step = 1 };
    int32_t status = NVBW_OK;

    access->describe(ctx, row, &useful, &base);
    if (row == base_row) {
        status = measure(ctx, gpu, &base, &base_cell);
    }
    if (status >= 0) {
        status = measure(ctx, gpu, &useful, &cell);
    }
    return status < 0 ? status : derive(ctx, &cell, &base_cell);
}

static int32_t run(struct nvbw_ctx *ctx)
{
    const struct access *const access = ctx->testcase->user;
    const struct nvbw_place *const *const gpus = ctx->host->places(ctx, "gpu");
    const uint32_t rows = ctx->host->param_count(ctx, access->axis);
    int32_t status = NVBW_OK;

    for (uint32_t gpu = 0; gpus[gpu] != NULL && status >= 0; gpu++) {
        for (uint32_t row = 0; row < rows && status >= 0; row++) {
            status = run_row(ctx, row, gpu);
        }
    }
    return status;
}

/* ---- Testcases ---------------------------------------------------------- */

static const struct nvbw_needs one_gpu = { .size = sizeof one_gpu,
    .min_gpus = 1 };
static const char *const tags[] = { "local", "access", "bandwidth", NULL };

#define HELP_ALL                                                               \
    "\n\nWithin each GPU's memory, which moves sectors of 32 bytes: what is "  \
    "moved and not accessed is lost. A thread has 32 bytes under way "         \
    "whatever "                                                                \
    "the width, so it is the memory that is measured. All copies of a sample " \
    "go through buffer_size bytes, 2 GiB where the plan does not say, of "     \
    "which the pattern accesses a part; only that part counts. Verified: "
#define HELP_COPY                                                              \
    HELP_ALL "every word of the destination after the last copy, those too "   \
             "that must not have been touched."
#define HELP_READ  HELP_ALL "the sum of all elements, of all copies."
#define HELP_WRITE HELP_ALL "every word after the last copy."

/* X(name, operation, base_has_rows, axis, describe, params, metrics, help,
 * summary) */
#define TESTCASES(X)                                                           \
    X(access_stride, NVBW_OP_COPY, 0, "strides", describe_stride,              \
        stride_params, stride_metrics,                                         \
        "Element n of both sides is copied for each n that is a multiple of "  \
        "the stride. Counted in sectors, of elements of 4 and 8 bytes stride " \
        "2 would leave half and 4 a quarter. It leaves a third and a sixth "   \
        "where a sector that is written in part is read first, as on an "      \
        "H200, "                                                               \
        "so that three are moved instead of two." HELP_COPY,                   \
        "Copies within each GPU by stride.")                                   \
    X(access_read_stride, NVBW_OP_READ, 0, "strides", describe_stride,         \
        stride_params, read_stride_metrics,                                    \
        "Element n is read for each n that is a multiple of the stride. Of "   \
        "elements of 4 and 8 bytes stride 2 leaves half and 4 a quarter, "     \
        "until each access has a sector of its own: 12.5 % of 4 bytes, 25 % "  \
        "of 8, 50 % of 16; less where memory moves two sectors at "            \
        "least." HELP_READ,                                                    \
        "Reads within each GPU by stride.")                                    \
    X(access_write_stride, NVBW_OP_WRITE, 0, "strides", describe_stride,       \
        stride_params, write_stride_metrics,                                   \
        "Element n is written for each n that is a multiple of the stride. A " \
        "sector that is written in part may be read first: stride 2 then "     \
        "leaves a quarter instead of half." HELP_COPY,                         \
        "Writes within each GPU by stride.")                                   \
    X(access_offset, NVBW_OP_COPY, 0, "offsets", describe_offset,              \
        offset_params, offset_metrics,                                         \
        "Neighbouring accesses, of which those of a warp begin somewhere in "  \
        "a "                                                                   \
        "sector: each warp touches one more, which its neighbour touches "     \
        "too." HELP_COPY,                                                      \
        "Copies within each GPU by misalignment.")                             \
    X(access_width, NVBW_OP_COPY, 0, "widths", describe_width, width_params,   \
        width_metrics,                                                         \
        "Neighbouring accesses of each width, compared with those of 16 "      \
        "bytes." HELP_COPY,                                                    \
        "Copies within each GPU by width of access.")                          \
    X(access_gather, NVBW_OP_READ, 1, "widths", describe_random, width_params, \
        random_metrics,                                                        \
        "Each element is read once, in an order without order: threads work "  \
        "out where, so no list of places is read too. The largest power of "   \
        "two of elements that fits." HELP_READ,                                \
        "Random reads within each GPU.")                                       \
    X(access_scatter, NVBW_OP_WRITE, 1, "widths", describe_random,             \
        width_params, random_metrics,                                          \
        "Each element is written once, in an order without order: threads "    \
        "work out where, so no list of places is read too. The largest power " \
        "of two of elements that fits." HELP_WRITE,                            \
        "Random writes within each GPU.")

#define TESTCASE(name_, operation_, base_has_rows_, axis_, describe_, params_, \
    metrics_, help_, summary_)                                                 \
    static const struct access access_of_##name_ = { operation_,               \
        base_has_rows_, axis_, describe_ };                                    \
    static const struct nvbw_testcase name_ = { .size = sizeof name_,          \
        .name = #name_,                                                        \
        .summary = summary_,                                                   \
        .help = help_,                                                         \
        .tags = tags,                                                          \
        .needs = &one_gpu,                                                     \
        .params = params_,                                                     \
        .metrics = metrics_,                                                   \
        .user = &access_of_##name_,                                            \
        .run = run };
TESTCASES(TESTCASE)

#define TESTCASE_POINTER(name_, operation_, base_has_rows_, axis_, describe_,  \
    params_, metrics_, help_, summary_)                                        \
    &name_,
static const struct nvbw_testcase *const testcases[] = { TESTCASES(
    TESTCASE_POINTER) NULL };

const struct nvbw_plugin nvbw_plugin_v1 = { .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "access",
    .version = "1.0.0",
    .summary = "Strided, misaligned, narrow and random access within each GPU.",
    .licence = "Apache-2.0",
    .testcases = testcases };
