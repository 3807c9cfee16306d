/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* multicast: one store of a GPU that arrives in the GPUs of all ranks. Objects
 * of NVLink multicast are the host's to make, and it makes none that the plan
 * does not allow. */
#include <stdlib.h>

#include "mpi_team.h"
#include "nvbw/plugin.h"
#include "rank_count.h"

/* From the memory of a rank, by its GPU, to all. */
static struct nvbw_flow flow_of(uint32_t rank, const struct nvbw_cell *cell)
{
    const struct nvbw_flow flow = { .size = sizeof flow,
        .initiator = NVBW_BY_SM,
        .operation = NVBW_OP_COPY,
        .src_memory = NVBW_MEM_FABRIC,
        .dst_memory = NVBW_MEM_MULTICAST,
        .src_place = (int32_t)rank,
        .executor = (int32_t)rank,
        .cell = cell };

    return flow;
}

static int32_t run_one_to_all(struct nvbw_ctx *ctx)
{
    const uint32_t ranks = rank_count(ctx);

    for (uint32_t i = 0; i < ranks; i++) {
        const struct nvbw_cell cell = NVBW_CELL("bandwidth", 0, i);
        const struct nvbw_flow flow = flow_of(i, &cell);
        const struct nvbw_flow *const list[] = { &flow, NULL };
        const struct nvbw_measurement one = { .size = sizeof one,
            .flows = list };
        const int32_t status = ctx->host->measure(ctx, &one);

        if (status < 0) {
            return status;
        }
    }
    return NVBW_OK;
}

/* Of one rank; the list points to it. */
struct own_flow {
    struct nvbw_cell cell;
    struct nvbw_flow flow;
};

static int32_t measure_listed(struct nvbw_ctx *ctx, uint32_t ranks,
    struct own_flow *own, const struct nvbw_flow **list)
{
    const struct nvbw_cell total = NVBW_CELL("total", 0, 0);
    const struct nvbw_measurement all = {
        .size = sizeof all, .flows = list, .total = &total
    };

    for (uint32_t i = 0; i < ranks; i++) {
        const struct nvbw_cell cell = NVBW_CELL("bandwidth", i, 0);

        own[i].cell = cell;
        own[i].flow = flow_of(i, &own[i].cell);
        list[i] = &own[i].flow;
    }
    return ctx->host->measure(ctx, &all);
}

static int32_t run_all_to_all(struct nvbw_ctx *ctx)
{
    const uint32_t ranks = rank_count(ctx);
    struct own_flow *const own = calloc((size_t)ranks + 1, sizeof *own);
    const struct nvbw_flow **const list =
        calloc((size_t)ranks + 1, sizeof *list);
    const int32_t status = own == NULL || list == NULL
                               ? ctx->host->fail(ctx, NULL, NVBW_E_SYSTEM, 0,
                                     "no memory for a list of flows")
                               : measure_listed(ctx, ranks, own, list);

    free(list);
    free(own);
    return status;
}

#define RANK_METRIC(symbol, name_, help_, rows_, cols_)                        \
    static const struct nvbw_metric symbol = { .size = sizeof symbol,          \
        .unit = NVBW_UNIT_BYTES_PER_SECOND,                                    \
        .better = NVBW_HIGHER,                                                 \
        .name = (name_),                                                       \
        .help = (help_),                                                       \
        .rows = (rows_),                                                       \
        .cols = (cols_) }

RANK_METRIC(metric_one, "bandwidth",
    "Payload that this rank stores, each byte counted once, however many GPUs "
    "it arrives in.",
    NULL, "rank");
RANK_METRIC(metric_each, "bandwidth",
    "Payload that this rank stores while all others do the same, each byte "
    "counted once.",
    "rank", NULL);
RANK_METRIC(metric_total, "total", "The sum of all ranks' rates.", NULL, NULL);

static const struct nvbw_metric *const metrics_one[] = { &metric_one, NULL };
static const struct nvbw_metric *const metrics_all[] = { &metric_each,
    &metric_total, NULL };

static const struct nvbw_needs needs = { .size = sizeof needs,
    .features = NVBW_NEED_MPI | NVBW_NEED_MULTICAST,
    .min_gpus = 1,
    .min_ranks = 2,
    .min_compute = 90,
    .min_driver = 12010 };
static const char *const tags[] = { "multinode", "multicast", "sm", "bandwidth",
    NULL };

#define HELP_BROADCAST                                                         \
    " Every GPU compares what arrived in its own memory. Objects of NVLink "   \
    "multicast can take a shared host's GPUs out of service for others, so "   \
    "the plan has to say allow_multicast = true, and neither "                 \
    "NCCL_NVLS_ENABLE=0 nor NVBW_DISABLE_MULTICAST=1 may be set in any rank."

static const struct nvbw_testcase one_to_all = { .size = sizeof one_to_all,
    .name = "multinode_device_to_device_broadcast_one_to_all_sm",
    .summary = "Each rank in turn stores to the GPUs of all ranks at once.",
    .help = "A kernel of the rank of the column copies from its GPU's memory "
            "to a multicast object of all GPUs." HELP_BROADCAST,
    .tags = tags,
    .needs = &needs,
    .metrics = metrics_one,
    .run = run_one_to_all };
static const struct nvbw_testcase all_to_all = { .size = sizeof all_to_all,
    .name = "multinode_device_to_device_broadcast_all_to_all_sm",
    .summary = "All ranks at once, each to the GPUs of all ranks.",
    .help = "Each rank has a multicast object of its own, so that a GPU "
            "holds a buffer for each of them: with many ranks give it a "
            "smaller buffer_size." HELP_BROADCAST,
    .tags = tags,
    .needs = &needs,
    .metrics = metrics_all,
    .run = run_all_to_all };

static const struct nvbw_testcase *const testcases[] = { &one_to_all,
    &all_to_all, NULL };

const struct nvbw_plugin nvbw_plugin_v1 = { .size = sizeof nvbw_plugin_v1,
    .flags = NVBW_PLUGIN_MPI,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "multicast",
    .version = "1.0.0",
    .summary = "From one GPU to those of all MPI ranks, by NVLink multicast.",
    .licence = "Apache-2.0",
    .testcases = testcases,
    .init = mpi_team_init,
    .fini = mpi_team_fini };
