/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The getters of parameters and places. */
#include "service.h"

#include <string.h>

static const struct param_values *find(
    struct service *service, const char *name, uint32_t i)
{
    const struct task_run *const run = service->run;

    for (uint32_t at = 0; run != NULL && name != NULL && at < run->params_count;
         at++) {
        const struct param_values *const param = &run->params[at];

        if (strcmp(param->name, name) != 0) {
            continue;
        }
        if (i < param->count) {
            return param;
        }
        service_broken(service,
            "C10: it read element %u of parameter %s, which has %u", i, name,
            param->count);
        return NULL;
    }
    service_broken(service, "C10: it read parameter %s, which is not declared",
        name == NULL ? "NULL" : name);
    return NULL;
}

uint32_t service_param_count(struct nvbw_ctx *ctx, const char *name)
{
    const struct task_run *const run = service_of(ctx)->run;

    for (uint32_t at = 0; run != NULL && name != NULL && at < run->params_count;
         at++) {
        if (strcmp(run->params[at].name, name) == 0) {
            return run->params[at].count;
        }
    }
    find(service_of(ctx), name, 0);
    return 0;
}

int64_t service_param_int(struct nvbw_ctx *ctx, const char *name, uint32_t i)
{
    const struct param_values *const param = find(service_of(ctx), name, i);

    return param == NULL ? 0 : param->values[i].integer;
}

double service_param_real(struct nvbw_ctx *ctx, const char *name, uint32_t i)
{
    const struct param_values *const param = find(service_of(ctx), name, i);

    return param == NULL ? 0.0 : param->values[i].real;
}

const char *service_param_text(
    struct nvbw_ctx *ctx, const char *name, uint32_t i)
{
    const struct param_values *const param = find(service_of(ctx), name, i);

    return param == NULL ? "" : param->texts[i];
}

const struct nvbw_place *const *service_places(
    struct nvbw_ctx *ctx, const char *axis)
{
    static const struct nvbw_place *const none[] = { NULL };
    struct service *const service = service_of(ctx);
    const struct task_run *const run = service->run;

    if (run != NULL && axis != NULL && strcmp(axis, "gpu") == 0) {
        return run->gpus;
    }
    if (run != NULL && axis != NULL && strcmp(axis, "numa") == 0) {
        return run->nodes;
    }
    if (run != NULL && run->ranks != NULL && axis != NULL &&
        strcmp(axis, "rank") == 0) {
        return run->ranks;
    }
    if (axis == NULL || strcmp(axis, "rank") != 0) {
        service_broken(service, "C5: places() knows gpu, numa and rank, not %s",
            axis == NULL ? "NULL" : axis);
    }
    return none;
}
