/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* hostmem: how fast the CPUs of a machine reach its memory, for every pair of
 * NUMA nodes. Needs no GPU, and tells a slow host from a slow link. */
#include "nvbw/plugin.h"

/* ---- Parameters --------------------------------------------------------- */

static const struct nvbw_param memory = {
    .size = sizeof memory,
    .type = NVBW_TYPE_ENUM,
    .name = "memory",
    .help = "Kind of host memory that is measured.",
    .default_text = "pageable",
    .choices = (const char *const[]){ "pageable", "As malloc gives it.",
        "huge_page",
        "In huge pages, reserved or transparent: fewer translations.", NULL },
};
static const struct nvbw_param *const params[] = { &memory, NULL };
/* By the position of the choice. */
static const uint32_t memory_kinds[] = { NVBW_MEM_PAGEABLE,
    NVBW_MEM_HUGE_PAGE };

/* ---- Metrics: one cell per memory node (row) and CPU node (column) ------ */

#define BANDWIDTH(variable, text)                                              \
    static const struct nvbw_metric variable = {                               \
        .size = sizeof variable,                                               \
        .unit = NVBW_UNIT_BYTES_PER_SECOND,                                    \
        .better = NVBW_HIGHER,                                                 \
        .name = "bandwidth",                                                   \
        .help = text,                                                          \
        .rows = "numa",                                                        \
        .cols = "numa",                                                        \
    }

BANDWIDTH(read_bandwidth,
    "Bytes that the CPUs of the column's node read from the row's memory, "
    "each counted once.");
BANDWIDTH(write_bandwidth,
    "Bytes that the CPUs of the column's node write to the row's memory, each "
    "counted once.");
BANDWIDTH(copy_bandwidth,
    "Bytes that the CPUs of the column's node copy within the row's memory, "
    "each counted once; memory moves twice as many (traffic).");
BANDWIDTH(triad_bandwidth,
    "Bytes of a = b + 3 c in the row's memory by the CPUs of the column's "
    "node, counted as STREAM does: 24 per element.");

static const struct nvbw_metric read_latency = {
    .size = sizeof read_latency,
    .unit = NVBW_UNIT_NANOSECONDS,
    .better = NVBW_LOWER,
    .name = "latency",
    .help = "Time of one load from the row's memory by a CPU of the column's "
            "node, each load waiting for the one before.",
    .rows = "numa",
    .cols = "numa",
};

/* ---- What a testcase does ----------------------------------------------- */

struct work {
    const struct nvbw_metric *metric;
    uint32_t operation;
    uint32_t reads, writes; /* 1: has a source, a destination */
};

static int32_t measure_pair(struct nvbw_ctx *ctx, uint32_t row, uint32_t col)
{
    const struct work *const work = ctx->testcase->user;
    const uint32_t kind = memory_kinds[ctx->host->param_int(ctx, "memory", 0)];
    const struct nvbw_cell cell = NVBW_CELL(work->metric->name, row, col);
    const struct nvbw_flow flow = {
        .size = sizeof flow,
        .initiator = NVBW_BY_CPU,
        .operation = work->operation,
        .src_memory = work->reads ? kind : NVBW_MEM_NONE,
        .dst_memory = work->writes ? kind : NVBW_MEM_NONE,
        .src_place = work->reads ? (int32_t)row : 0,
        .dst_place = work->writes ? (int32_t)row : 0,
        .executor = (int32_t)col,
        .cell = &cell,
    };
    const struct nvbw_flow *const flows[] = { &flow, NULL };
    const struct nvbw_measurement measurement = { .size = sizeof measurement,
        .flows = flows };

    return ctx->host->measure(ctx, &measurement);
}

/* Nodes without CPUs have a row, as memory; their column is skipped by the
 * host, in its own words. */
static int32_t run(struct nvbw_ctx *ctx)
{
    const struct nvbw_place *const *const nodes =
        ctx->host->places(ctx, "numa");

    for (uint32_t row = 0; nodes[row] != NULL; row++) {
        for (uint32_t col = 0; nodes[col] != NULL; col++) {
            const int32_t status = measure_pair(ctx, row, col);

            if (status < 0) {
                return status;
            }
        }
    }
    return NVBW_OK;
}

/* ---- Testcases ---------------------------------------------------------- */

#define ABOUT_THREADS                                                          \
    "By one thread on every core of the node (`threads` sets another number; " \
    "hardware threads beyond one per core are used only if asked for). The "   \
    "time is from the first thread's start to the last one's end.\n\n"

#define ABOUT_SIZE                                                             \
    "Buffers (`buffer_size` each) hold at least four times the last-level "    \
    "cache where the plan does not say otherwise, 1536 MiB where the machine " \
    "does not tell its cache (flag cache_unknown); below four times a figure " \
    "carries the flag cache_bound.\n\n"

#define ABOUT_STORES                                                           \
    "Stores are non-temporal on x86: lines are not read before they are "      \
    "overwritten, so memory moves what is counted and no more. A program "     \
    "built with ordinary stores moves one more byte for each byte written "    \
    "and shows accordingly less.\n\n"

#define TESTCASE(variable, name_text, summary_text, help_text, metric_name,    \
    operation_number, has_source, has_destination)                             \
    static const struct nvbw_testcase variable = {                             \
        .size = sizeof variable,                                               \
        .name = name_text,                                                     \
        .summary = summary_text,                                               \
        .help = help_text,                                                     \
        .tags = tags,                                                          \
        .params = params,                                                      \
        .metrics = (const struct nvbw_metric *const[]){ &metric_name, NULL },  \
        .user = &(const struct work){ .metric = &metric_name,                  \
            .operation = operation_number,                                     \
            .reads = has_source,                                               \
            .writes = has_destination },                                       \
        .run = run,                                                            \
    }

static const char *const tags[] = { "host", "memory", NULL };

TESTCASE(memory_read, "host_memory_read",
    "CPUs read host memory, for each pair of NUMA nodes.",
    "Every byte is loaded and added up. " ABOUT_THREADS ABOUT_SIZE
    "Verified: the sum of all words, against the sum of what was written "
    "there.",
    read_bandwidth, NVBW_OP_READ, 1, 0);
TESTCASE(memory_write, "host_memory_write",
    "CPUs write host memory, for each pair of NUMA nodes.",
    "Every byte is overwritten once. " ABOUT_THREADS ABOUT_SIZE ABOUT_STORES
    "Verified: every word.",
    write_bandwidth, NVBW_OP_WRITE, 0, 1);
TESTCASE(memory_copy, "host_memory_copy",
    "CPUs copy within host memory, for each pair of NUMA nodes.",
    "Both buffers are on the row's node. The figure counts a copied byte "
    "once, as all copies of this program do; STREAM counts it "
    "twice. " ABOUT_THREADS ABOUT_SIZE ABOUT_STORES "Verified: every byte.",
    copy_bandwidth, NVBW_OP_COPY, 1, 1);
TESTCASE(memory_triad, "host_memory_triad",
    "STREAM's triad by CPUs, for each pair of NUMA nodes.",
    "a = b + 3 c over arrays of doubles, all three on the row's node, each "
    "of buffer_size bytes. " ABOUT_THREADS ABOUT_SIZE ABOUT_STORES
    "Verified: every element.",
    triad_bandwidth, NVBW_OP_TRIAD, 1, 1);
TESTCASE(memory_latency, "host_memory_latency",
    "Latency of a load from host memory, for each pair of NUMA nodes.",
    "One thread follows a chain of loads, one per cache line, that visits "
    "the lines of buffer_size bytes in random order and comes back to the "
    "first only after all others. Translation misses are part of the figure; "
    "memory = \"huge_page\" makes them rare.\n\n" ABOUT_SIZE
    "Verified: where on the chain the thread ends.",
    read_latency, NVBW_OP_CHASE, 1, 0);

const struct nvbw_plugin nvbw_plugin_v1 = {
    .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "hostmem",
    .version = "1.0.0",
    .summary = "Bandwidth and latency of host memory per pair of NUMA nodes.",
    .licence = "Apache-2.0",
    .testcases = (const struct nvbw_testcase *const[]){ &memory_read,
        &memory_write, &memory_copy, &memory_triad, &memory_latency, NULL },
};
