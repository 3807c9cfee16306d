/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Recorded runs count the calls that a plugin makes and can make any one of
 * them fail, as check-plugin does with each in turn (rule C27). The getters of
 * parameters cannot fail by contract and log() has no answer: these are the
 * plain ones. */
#include "service.h"

/* 1 if it is this call's turn to fail. [any], since cancelled() and
 * time_left_ns() are. */
static int fails(struct nvbw_ctx *ctx, const char *name)
{
    struct task_run *const run = service_of(ctx)->run;

    if (run == NULL) {
        return 0;
    }

    const uint32_t call = atomic_fetch_add(&run->calls, 1) + 1;

    if (call != run->task->fail_call && call != run->task->name_call) {
        return 0;
    }
    run->failed_call = name;
    return call == run->task->fail_call;
}

static int32_t cancelled(struct nvbw_ctx *ctx)
{
    return fails(ctx, "cancelled") ? 1 : service_host.cancelled(ctx);
}

static int64_t time_left(struct nvbw_ctx *ctx)
{
    return fails(ctx, "time_left_ns") ? 0 : service_host.time_left_ns(ctx);
}

static const struct nvbw_place *const *places(
    struct nvbw_ctx *ctx, const char *axis)
{
    static const struct nvbw_place *const none[] = { NULL };

    return fails(ctx, "places") ? none : service_places(ctx, axis);
}

static int32_t measure(
    struct nvbw_ctx *ctx, const struct nvbw_measurement *measurement)
{
    return fails(ctx, "measure") ? NVBW_E_CANCELLED
                                 : service_measure(ctx, measurement);
}

static int32_t wanted(struct nvbw_ctx *ctx, const struct nvbw_cell *cell)
{
    return fails(ctx, "wanted") ? 0 : service_wanted(ctx, cell);
}

static int32_t figure(
    struct nvbw_ctx *ctx, const struct nvbw_cell *cell, double *out_value)
{
    return fails(ctx, "figure") ? NVBW_E_SKIPPED
                                : service_figure(ctx, cell, out_value);
}

static int32_t quantile(struct nvbw_ctx *ctx, const struct nvbw_cell *cell,
    double q, double *out_value)
{
    return fails(ctx, "quantile") ? NVBW_E_SKIPPED
                                  : service_quantile(ctx, cell, q, out_value);
}

static int32_t put(struct nvbw_ctx *ctx, const struct nvbw_cell *cell,
    const double *samples, uint64_t count)
{
    return fails(ctx, "put") ? NVBW_E_SYSTEM
                             : service_put(ctx, cell, samples, count);
}

static int32_t skip(struct nvbw_ctx *ctx, const struct nvbw_cell *cell,
    int32_t reason, const char *text)
{
    return fails(ctx, "skip") ? NVBW_E_SYSTEM
                              : service_skip(ctx, cell, reason, text);
}

static int32_t fail(struct nvbw_ctx *ctx, const struct nvbw_cell *cell,
    int32_t status, int64_t code, const char *text)
{
    return fails(ctx, "fail") ? NVBW_E_SYSTEM
                              : service_fail(ctx, cell, status, code, text);
}

static int32_t labels(struct nvbw_ctx *ctx, const char *metric, uint32_t axis,
    const char *const *names)
{
    return fails(ctx, "labels") ? NVBW_E_SYSTEM
                                : service_labels(ctx, metric, axis, names);
}

static nvbw_driver_fn *driver(
    struct nvbw_ctx *ctx, const char *name, uint32_t cuda_version)
{
    return fails(ctx, "driver") ? NULL
                                : service_host.driver(ctx, name, cuda_version);
}

static void add_log(struct nvbw_ctx *ctx, int32_t level, const char *text)
{
    service_host.log(ctx, level, text);
}

static int32_t lend(struct nvbw_ctx *ctx, nvbw_allgather_fn *allgather)
{
    return fails(ctx, "lend") ? NVBW_E_SYSTEM
                              : service_host.lend(ctx, allgather);
}

static int32_t join(struct nvbw_ctx *ctx, uint32_t rank, uint32_t ranks)
{
    return fails(ctx, "join") ? NVBW_E_SYSTEM
                              : service_host.join(ctx, rank, ranks);
}

const struct nvbw_host service_torture = {
    .size = sizeof service_torture,
    .abi_minor = NVBW_ABI_MINOR,
    .log = add_log,
    .cancelled = cancelled,
    .time_left_ns = time_left,
    .places = places,
    .param_count = service_param_count,
    .param_int = service_param_int,
    .param_real = service_param_real,
    .param_text = service_param_text,
    .measure = measure,
    .wanted = wanted,
    .figure = figure,
    .quantile = quantile,
    .put = put,
    .skip = skip,
    .fail = fail,
    .labels = labels,
    .driver = driver,
    .lend = lend,
    .join = join,
    .refuse = service_refuse,
};
