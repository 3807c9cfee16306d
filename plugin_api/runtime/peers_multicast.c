/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Memory of all ranks behind one multicast object:
 *
 *   may multicast   every rank looks whether it may
 *   offer memory    rank 0 makes the object and passes its handle on
 *   add to multicast  each rank has added its GPU: until then the driver lets
 *                   nobody bind or map
 *   bind multicast  each has made memory, bound it, and mapped both; before
 *                   that what is stored there would be lost
 *
 * What goes wrong in any rank undoes it in all of them. */
#include <string.h>

#include "engine_state.h"
#include "multicast_guard.h"
#include "peers_memory.h"

static struct cu_multicast_prop prop_of(const struct exchange *exchange)
{
    return (struct cu_multicast_prop){ .devices = exchange->peers->ranks,
        .size = exchange->memory->bytes,
        .handle_types = shared_handle_type(exchange->peers->handle) };
}

static uint32_t is_allowed(const struct exchange *exchange)
{
    return exchange->engine->allow_multicast;
}

/* Of objects and of the memory that is bound: both are powers of two. */
static int32_t get_step(
    const struct exchange *exchange, size_t *out, struct error *err)
{
    const struct gpu *const gpu = exchange->gpu;
    const struct cu_multicast_prop prop = prop_of(exchange);

    CUDA_TRY(gpu->api, err,
        gpu->api->multicast_granularity(out, &prop, CU_MULTICAST_RECOMMENDED),
        "GPU %d: the granularity of multicast objects", gpu->facts->index);
    FAIL_IF(*out == 0, err, NVBW_E_CUDA,
        "GPU %d: multicast objects have no granularity", gpu->facts->index);
    return NVBW_OK;
}

static int32_t make_object(const struct exchange *exchange, struct error *err)
{
    struct shared_memory *const object = exchange->memory;
    struct cu_multicast_prop prop;
    size_t step = 0;

    TRY(gpu_use(exchange->gpu, err));
    TRY(get_step(exchange, &step, err));
    FAIL_IF(object->bytes > UINT64_MAX - step, err, NVBW_E_INVALID,
        "a multicast buffer is larger than any memory");
    object->bytes = (object->bytes + step - 1) / step * step;
    prop = prop_of(exchange);
    return multicast_create(
        exchange->gpu, is_allowed(exchange), &prop, &object->handle, err);
}

static int32_t add_gpu(
    const struct exchange *exchange, int32_t status, struct error *err)
{
    const struct gpu *const gpu = exchange->gpu;

    TRY(status);
    TRY(gpu_use(gpu, err));
    CUDA_TRY(gpu->api, err,
        gpu->api->multicast_add(exchange->memory->handle, gpu->device),
        "GPU %d: being added to a multicast object", gpu->facts->index);
    return NVBW_OK;
}

/* The memory may be larger than what is bound of it. */
static int32_t bind_own(
    const struct exchange *exchange, struct team_memory *out, struct error *err)
{
    const struct gpu *const gpu = exchange->gpu;

    out->own.bytes = out->object.bytes;
    TRY(shared_create(
        gpu, exchange->peers->handle, &out->own.bytes, &out->own.handle, err));
    CUDA_TRY(gpu->api, err,
        gpu->api->multicast_bind(
            out->object.handle, 0, out->own.handle, 0, out->object.bytes, 0),
        "GPU %d: binding memory to a multicast object", gpu->facts->index);
    out->bound = 1;
    TRY(shared_map(gpu, &out->own, err));
    return shared_map(gpu, &out->object, err);
}

static int32_t build(
    const struct exchange *exchange, struct team_memory *out, struct error *err)
{
    struct peers *const peers = exchange->peers;

    TRY(peers_check(peers, "may multicast",
        multicast_permitted(exchange->gpu, is_allowed(exchange), err), err));
    TRY(peers_check(peers, "add to multicast",
        add_gpu(exchange, shared_pass(exchange, err), err), err));
    return bind_own(exchange, out, err);
}

int32_t peers_map_team(struct peers *peers, struct engine *engine,
    uint64_t bytes, struct team_memory *out, struct error *err)
{
    const struct exchange exchange = { .peers = peers,
        .engine = engine,
        .gpu = &engine->gpus[peers->rank],
        .owner = 0,
        .memory = &out->object,
        .make = make_object };

    peers->agreed = 0;
    *out = (struct team_memory){ .object = { .bytes = bytes, .descriptor = -1 },
        .own = { .descriptor = -1 } };

    const int32_t status =
        peers_check(peers, "bind multicast", build(&exchange, out, err), err);

    if (status < 0) {
        peers_unmap_team(engine, out);
    } else {
        shared_close_descriptor(&out->object);
    }
    return status;
}

/* In the other order; whatever of it fails, the rest is still given back. */
void peers_unmap_team(struct engine *engine, struct team_memory *memory)
{
    const struct gpu *const gpu = &engine->gpus[engine->setup.peers->rank];

    shared_unmap(gpu, &memory->object);
    shared_unmap(gpu, &memory->own);
    if (memory->bound && gpu_use(gpu, NULL) == NVBW_OK) {
        gpu->api->multicast_unbind(
            memory->object.handle, gpu->device, 0, memory->object.bytes);
        memory->bound = 0;
    }
    shared_close(gpu, &memory->own);
    shared_close(gpu, &memory->object);
}
