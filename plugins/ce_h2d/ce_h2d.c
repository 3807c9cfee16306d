/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* ce_h2d: between host and GPU by the copy engine, with nvbandwidth's names
 * and meaning. One run() serves all; a testcase is its row of traffic. */
#include "nvbw/plugin.h"

#include <stdlib.h>

#include "host_traffic.h"

static const struct host_mover mover = { NVBW_BY_CE, NVBW_MEM_PINNED };

static uint32_t count_places(const struct nvbw_place *const *places)
{
    uint32_t count = 0;

    while (places[count] != NULL) {
        count++;
    }
    return count;
}

/* The metric that only testcases with interference have. */
static int has_total(const struct host_traffic *traffic)
{
    return traffic->both_ways || traffic->all_gpus;
}

static int32_t measure_gpu(struct nvbw_ctx *ctx, uint32_t gpus, uint32_t gpu,
    struct nvbw_flow *flows, const struct nvbw_flow **list)
{
    const struct host_traffic *const traffic = ctx->testcase->user;
    const struct nvbw_cell bandwidth = NVBW_CELL("bandwidth", 0, gpu);
    const struct nvbw_cell total = NVBW_CELL("total", 0, gpu);
    const uint32_t count =
        host_traffic_flows(traffic, &mover, gpus, gpu, &bandwidth, flows);
    const struct nvbw_measurement at_once = { .size = sizeof at_once,
        .flows = list,
        .total = has_total(traffic) ? &total : NULL };

    for (uint32_t i = 0; i < count; i++) {
        list[i] = &flows[i];
    }
    list[count] = NULL;
    return ctx->host->measure(ctx, &at_once);
}

static int32_t run(struct nvbw_ctx *ctx)
{
    const uint32_t gpus = count_places(ctx->host->places(ctx, "gpu"));
    const uint32_t most = host_traffic_most(ctx->testcase->user, gpus);
    struct nvbw_flow *const flows = calloc(most + 1, sizeof *flows);
    const struct nvbw_flow **const list = calloc(most + 1, sizeof *list);
    int32_t status = NVBW_OK;

    if (flows == NULL || list == NULL) {
        status = ctx->host->fail(
            ctx, NULL, NVBW_E_SYSTEM, 0, "no memory for the list of flows");
    }
    for (uint32_t gpu = 0; gpu < gpus && status >= 0; gpu++) {
        status = measure_gpu(ctx, gpus, gpu, flows, list);
    }
    free(list);
    free(flows);
    return status;
}

static const struct nvbw_metric bandwidth = { .size = sizeof bandwidth,
    .unit = NVBW_UNIT_BYTES_PER_SECOND,
    .better = NVBW_HIGHER,
    .name = "bandwidth",
    .help = "Payload of the measured direction of this GPU.",
    .cols = "gpu" };
static const struct nvbw_metric total = { .size = sizeof total,
    .unit = NVBW_UNIT_BYTES_PER_SECOND,
    .better = NVBW_HIGHER,
    .name = "total",
    .help = "Payload of all directions and GPUs at once while this one was "
            "measured.",
    .cols = "gpu" };
static const struct nvbw_metric *const alone[] = { &bandwidth, NULL };
static const struct nvbw_metric *const together[] = { &bandwidth, &total,
    NULL };
static const struct nvbw_needs needs = { .size = sizeof needs, .min_gpus = 1 };
static const char *const tags[] = { "host", "ce", "bandwidth", NULL };

static const char help_near[] =
    "The host's memory is page-locked and on the NUMA node nearest to the "
    "GPU. Bytes are moved by cuMemcpyAsync.";
static const char help_behind[] =
    "One direction of one GPU is measured while the other flows run behind "
    "it for as long; it is proved that they did. The host's memory is "
    "page-locked and on the NUMA node nearest to each GPU.";

/* X(name, to_gpu, both_ways, all_gpus, metrics, help, summary) */
#define TESTCASES(X)                                                           \
    X(host_to_device_memcpy_ce, 1, 0, 0, alone, help_near,                     \
        "Host to each GPU in turn.")                                           \
    X(device_to_host_memcpy_ce, 0, 0, 0, alone, help_near,                     \
        "Each GPU in turn to the host.")                                       \
    X(host_to_device_bidirectional_memcpy_ce, 1, 1, 0, together, help_behind,  \
        "Host to each GPU in turn while it copies back.")                      \
    X(device_to_host_bidirectional_memcpy_ce, 0, 1, 0, together, help_behind,  \
        "Each GPU in turn to the host while the host copies back.")            \
    X(all_to_host_memcpy_ce, 0, 0, 1, together, help_behind,                   \
        "Each GPU to the host while all others do the same.")                  \
    X(all_to_host_bidirectional_memcpy_ce, 0, 1, 1, together, help_behind,     \
        "Each GPU to the host while all GPUs copy both ways.")                 \
    X(host_to_all_memcpy_ce, 1, 0, 1, together, help_behind,                   \
        "The host to each GPU while it copies to all others.")                 \
    X(host_to_all_bidirectional_memcpy_ce, 1, 1, 1, together, help_behind,     \
        "The host to each GPU while all GPUs copy both ways.")

#define TESTCASE(name_, to_gpu_, both_, all_, metrics_, help_, summary_)       \
    static const struct host_traffic traffic_##name_ = { to_gpu_, both_,       \
        all_ };                                                                \
    static const struct nvbw_testcase name_ = { .size = sizeof name_,          \
        .name = #name_,                                                        \
        .summary = summary_,                                                   \
        .help = help_,                                                         \
        .tags = tags,                                                          \
        .needs = &needs,                                                       \
        .metrics = metrics_,                                                   \
        .user = &traffic_##name_,                                              \
        .run = run };
TESTCASES(TESTCASE)

#define TESTCASE_POINTER(                                                      \
    name_, to_gpu_, both_, all_, metrics_, help_, summary_)                    \
    &name_,
static const struct nvbw_testcase *const testcases[] = { TESTCASES(
    TESTCASE_POINTER) NULL };

const struct nvbw_plugin nvbw_plugin_v1 = { .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "ce_h2d",
    .version = "1.0.0",
    .summary = "Between host and GPU by the copy engine.",
    .licence = "Apache-2.0",
    .testcases = testcases };
