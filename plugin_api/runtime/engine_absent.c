/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Stands for the engine in builds without it: nothing can be measured. */
#include "engine.h"

#include <stddef.h>

int32_t engine_open(
    const struct engine_setup *setup, struct engine **out, struct error *err)
{
    (void)setup;
    (void)err;
    *out = NULL;
    return NVBW_OK;
}

int32_t engine_measure(struct engine *engine,
    const struct measure_request *request, struct arena *arena,
    struct measure_result *out, struct error *err)
{
    (void)engine;
    (void)request;
    (void)arena;
    (void)out;
    return error_set(
        err, NVBW_E_SYSTEM, "this worker was built without the engine");
}

void *engine_driver_function(
    struct engine *engine, const char *name, uint32_t cuda_version)
{
    (void)engine;
    (void)name;
    (void)cuda_version;
    return NULL;
}

int32_t engine_health(struct engine *engine, const uint32_t *positions,
    uint32_t count, uint64_t deadline_ns, struct error *err)
{
    (void)engine;
    (void)positions;
    (void)count;
    (void)deadline_ns;
    return error_set(
        err, NVBW_E_SYSTEM, "this worker was built without the engine");
}
