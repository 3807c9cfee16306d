/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* memory_kinds: from memory that no bundled testcase uses to each GPU, so that
 * a run can reach what the runtime does with it. */
#include "nvbw/plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    const uint32_t *const kind = ctx->testcase->user;
    const struct nvbw_place *const *gpus = ctx->host->places(ctx, "gpu");

    /* The driver has both; only one is for plugins. */
    if (ctx->host->driver(ctx, "cuMulticastCreate", 12010) != NULL ||
        ctx->host->driver(ctx, "cuMemcpyAsync", 12000) == NULL) {
        return NVBW_E_INVALID;
    }

    for (uint32_t gpu = 0; gpus[gpu] != NULL; gpu++) {
        const struct nvbw_cell cell = NVBW_CELL("bandwidth", 0, gpu);
        const struct nvbw_flow flow = { .size = sizeof flow,
            .initiator = NVBW_BY_CE,
            .operation = NVBW_OP_COPY,
            .src_memory = *kind,
            .dst_memory = NVBW_MEM_DEVICE,
            .src_place = NVBW_NEAR,
            .dst_place = (int32_t)gpu,
            .executor = (int32_t)gpu,
            .cell = &cell };
        const struct nvbw_measurement measurement = {
            .size = sizeof measurement,
            .flows = (const struct nvbw_flow *const[]){ &flow, NULL },
        };
        const int32_t status = ctx->host->measure(ctx, &measurement);

        if (status < 0) {
            return status;
        }
    }
    return NVBW_OK;
}

static const struct nvbw_metric bandwidth = {
    .size = sizeof bandwidth,
    .unit = NVBW_UNIT_BYTES_PER_SECOND,
    .better = NVBW_HIGHER,
    .name = "bandwidth",
    .help = "Payload.",
    .cols = "gpu",
};
static const struct nvbw_metric *const metrics[] = { &bandwidth, NULL };
static const struct nvbw_needs needs = { .size = sizeof needs, .min_gpus = 1 };

#define TESTCASE(name_, kind_)                                                 \
    static const uint32_t kind_of_##name_ = (kind_);                           \
    static const struct nvbw_testcase name_ = { .size = sizeof name_,          \
        .name = #name_,                                                        \
        .summary = "From such memory to each GPU in turn.",                    \
        .needs = &needs,                                                       \
        .metrics = metrics,                                                    \
        .user = &kind_of_##name_,                                              \
        .run = run }
TESTCASE(write_combined, NVBW_MEM_WRITE_COMBINED);
TESTCASE(managed, NVBW_MEM_MANAGED);
static const struct nvbw_testcase *const testcases[] = { &write_combined,
    &managed, NULL };

const struct nvbw_plugin nvbw_plugin_v1 = { .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "memory_kinds",
    .version = "1.0.0",
    .summary = "Memory that no bundled testcase uses.",
    .licence = "Apache-2.0",
    .testcases = testcases };
