/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The table of check(): parameters, log and refuse. Everything else would make
 * what it says depend on more than the plan (rule C28). */
#include "service.h"

#include <string.h>

enum { REFUSED_TEXT_BYTES = 768 };

static int32_t breach(struct nvbw_ctx *ctx, const char *function)
{
    return service_broken(service_of(ctx),
        "C28: %s() was called from check(), which may read parameters, log and "
        "refuse",
        function);
}

/* The element may be one past the last: of a list that is too short. */
static const struct param_values *find_refused(
    struct service *service, const char *name, uint32_t i)
{
    const struct task_run *const run = service->run;

    for (uint32_t at = 0; name != NULL && at < run->params_count; at++) {
        if (strcmp(run->params[at].name, name) == 0) {
            return i <= run->params[at].count ? &run->params[at] : NULL;
        }
    }
    return NULL;
}

int32_t service_refuse(
    struct nvbw_ctx *ctx, const char *name, uint32_t i, const char *text)
{
    struct service *const service = service_of(ctx);

    if (service->run == NULL || !service->run->checking) {
        return service_broken(service, "C28: refuse() is for check()");
    }

    const struct param_values *const param = find_refused(service, name, i);

    if (param == NULL || text == NULL || text[0] == '\0') {
        return service_broken(service,
            "C28: refuse() needs a parameter that is declared, an element of "
            "it and a text; it was given %s[%u]",
            name == NULL ? "NULL" : name, i);
    }

    const struct refused_frame frame = { param->name, i,
        arena_text_n(
            service->run->arena, text, strnlen(text, REFUSED_TEXT_BYTES)) };

    if (frame.text == NULL) {
        return NVBW_E_SYSTEM;
    }
    service_send(service, FRAME_REFUSED, &frame);
    return NVBW_OK;
}

int32_t service_check(
    struct service *service, const struct loaded_testcase *testcase)
{
    service->ctx.host = &service_check_table;
    return testcase->own.check(&service->ctx);
}

static int32_t cancelled(struct nvbw_ctx *ctx)
{
    return service_host.cancelled(ctx);
}

static int64_t time_left(struct nvbw_ctx *ctx)
{
    return service_host.time_left_ns(ctx);
}

static void add_log(struct nvbw_ctx *ctx, int32_t level, const char *text)
{
    service_host.log(ctx, level, text);
}

static const struct nvbw_place *const *places(
    struct nvbw_ctx *ctx, const char *axis)
{
    static const struct nvbw_place *const none[] = { NULL };

    (void)axis;
    breach(ctx, "places");
    return none;
}

static int32_t measure(
    struct nvbw_ctx *ctx, const struct nvbw_measurement *measurement)
{
    (void)measurement;
    return breach(ctx, "measure");
}

static int32_t wanted(struct nvbw_ctx *ctx, const struct nvbw_cell *cell)
{
    (void)cell;
    breach(ctx, "wanted");
    return 0;
}

static int32_t figure(
    struct nvbw_ctx *ctx, const struct nvbw_cell *cell, double *out_value)
{
    (void)cell;
    (void)out_value;
    return breach(ctx, "figure");
}

static int32_t quantile(struct nvbw_ctx *ctx, const struct nvbw_cell *cell,
    double q, double *out_value)
{
    (void)q;
    return figure(ctx, cell, out_value);
}

static int32_t put(struct nvbw_ctx *ctx, const struct nvbw_cell *cell,
    const double *samples, uint64_t count)
{
    (void)cell;
    (void)samples;
    (void)count;
    return breach(ctx, "put");
}

static int32_t skip(struct nvbw_ctx *ctx, const struct nvbw_cell *cell,
    int32_t reason, const char *text)
{
    (void)cell;
    (void)reason;
    (void)text;
    return breach(ctx, "skip");
}

static int32_t fail(struct nvbw_ctx *ctx, const struct nvbw_cell *cell,
    int32_t status, int64_t code, const char *text)
{
    (void)cell;
    (void)status;
    (void)code;
    (void)text;
    return breach(ctx, "fail");
}

static int32_t labels(struct nvbw_ctx *ctx, const char *metric, uint32_t axis,
    const char *const *names)
{
    (void)metric;
    (void)axis;
    (void)names;
    return breach(ctx, "labels");
}

static nvbw_driver_fn *driver(
    struct nvbw_ctx *ctx, const char *name, uint32_t cuda_version)
{
    (void)name;
    (void)cuda_version;
    breach(ctx, "driver");
    return NULL;
}

static int32_t lend(struct nvbw_ctx *ctx, nvbw_allgather_fn *allgather)
{
    (void)allgather;
    return breach(ctx, "lend");
}

static int32_t join(struct nvbw_ctx *ctx, uint32_t rank, uint32_t ranks)
{
    (void)rank;
    (void)ranks;
    return breach(ctx, "join");
}

const struct nvbw_host service_check_table = {
    .size = sizeof service_check_table,
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
