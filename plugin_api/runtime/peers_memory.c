/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Memory of one rank that all ranks map. The owner makes it and passes its
 * handle on; what the handle is has been settled when the team was formed. */
#include "peers_memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine_state.h"
#include "peers_socket.h"

/* ---- One allocation ---- */

unsigned int shared_handle_type(enum peers_handle handle)
{
    return handle == PEERS_FABRIC ? CU_HANDLE_FABRIC : CU_HANDLE_DESCRIPTOR;
}

static struct cu_allocation_prop prop_of(
    const struct gpu *gpu, enum peers_handle handle)
{
    return (struct cu_allocation_prop){ .type = CU_ALLOCATION_PINNED,
        .handle_types = shared_handle_type(handle),
        .location = { .type = CU_AT_DEVICE, .id = gpu->device } };
}

static int32_t too_little(
    const struct gpu *gpu, uint64_t bytes, struct error *err)
{
    error_set(err, NVBW_E_SKIPPED,
        "GPU %d has no %" PRIu64 " MiB free: use a smaller buffer_size or end "
        "what else uses it",
        gpu->facts->index, bytes >> 20);
    if (err != NULL) {
        err->code = NVBW_SKIP_MEMORY;
    }
    return NVBW_E_SKIPPED;
}

int32_t shared_create(const struct gpu *gpu, enum peers_handle handle,
    uint64_t *bytes, cu_memory *out, struct error *err)
{
    const struct cu_allocation_prop prop = prop_of(gpu, handle);
    size_t step = 0;

    TRY(gpu_use(gpu, err));
    CUDA_TRY(gpu->api, err,
        gpu->api->vmm_granularity(&step, &prop, CU_GRANULARITY_RECOMMENDED),
        "GPU %d: the granularity of shared memory", gpu->facts->index);
    FAIL_IF(step == 0 || *bytes > UINT64_MAX - step, err, NVBW_E_INVALID,
        "a shared buffer is larger than any memory");
    *bytes = (*bytes + step - 1) / step * step;

    const cu_result result = gpu->api->vmm_create(out, *bytes, &prop, 0);

    if (result == CU_ERROR_OUT_OF_MEMORY) {
        return too_little(gpu, *bytes, err);
    }
    CUDA_TRY(gpu->api, err, result, "GPU %d: %" PRIu64 " MiB to share",
        gpu->facts->index, *bytes >> 20);
    return NVBW_OK;
}

int32_t shared_map(
    const struct gpu *gpu, struct shared_memory *memory, struct error *err)
{
    const struct cu_access access = { .location = { CU_AT_DEVICE, gpu->device },
        .flags = CU_ACCESS_READ_WRITE };
    cu_address address = 0;

    TRY(gpu_use(gpu, err));
    CUDA_TRY(gpu->api, err,
        gpu->api->vmm_reserve(&address, memory->bytes, 0, 0, 0),
        "GPU %d: addresses for shared memory", gpu->facts->index);

    cu_result result =
        gpu->api->vmm_map(address, memory->bytes, 0, memory->handle, 0);

    if (result == CU_SUCCESS) {
        result = gpu->api->vmm_access(address, memory->bytes, &access, 1);
        if (result != CU_SUCCESS) {
            gpu->api->vmm_unmap(address, memory->bytes);
        }
    }
    if (result != CU_SUCCESS) {
        gpu->api->vmm_unreserve(address, memory->bytes);
    }
    CUDA_TRY(gpu->api, err, result,
        "GPU %d: access to the memory of another rank's GPU",
        gpu->facts->index);
    memory->address = address;
    return NVBW_OK;
}

void shared_unmap(const struct gpu *gpu, struct shared_memory *memory)
{
    if (memory->address != 0 && gpu_use(gpu, NULL) == NVBW_OK) {
        gpu->api->vmm_unmap(memory->address, memory->bytes);
        gpu->api->vmm_unreserve(memory->address, memory->bytes);
    }
    memory->address = 0;
}

void shared_close_descriptor(struct shared_memory *memory)
{
    if (memory->descriptor >= 0) {
        close(memory->descriptor);
        memory->descriptor = -1;
    }
}

void shared_close(const struct gpu *gpu, struct shared_memory *memory)
{
    shared_close_descriptor(memory);
    if (memory->handle != 0 && gpu_use(gpu, NULL) == NVBW_OK) {
        gpu->api->vmm_release(memory->handle);
        memory->handle = 0;
    }
}

/* ---- From the owner to the others ---- */

/* What each rank says it is about, and what the owner tells all. */
struct offer {
    uint64_t owner, wanted;
    uint64_t bytes;
    struct cu_fabric_handle fabric;
};

static int32_t export_memory(
    const struct exchange *exchange, struct offer *out, struct error *err)
{
    struct shared_memory *const memory = exchange->memory;
    const struct cuda_api *const api = exchange->gpu->api;

    TRY(exchange->make(exchange, err));
    out->bytes = memory->bytes;
    if (exchange->peers->handle == PEERS_FABRIC) {
        CUDA_TRY(api, err,
            api->vmm_export(&out->fabric, memory->handle, CU_HANDLE_FABRIC, 0),
            "GPU %d: a fabric handle", exchange->gpu->facts->index);
        return NVBW_OK;
    }
    CUDA_TRY(api, err,
        api->vmm_export(
            &memory->descriptor, memory->handle, CU_HANDLE_DESCRIPTOR, 0),
        "GPU %d: a descriptor of memory", exchange->gpu->facts->index);
    return NVBW_OK;
}

static int32_t send_to_all(const struct exchange *exchange, struct error *err)
{
    const struct peers *const peers = exchange->peers;

    for (uint32_t i = 0; i < peers->ranks; i++) {
        if (i != peers->rank) {
            TRY(peers_socket_send(peers->others[i], peers->steps,
                exchange->memory->descriptor, peers->step_ns / 2, err));
        }
    }
    return NVBW_OK;
}

static int32_t import(
    const struct exchange *exchange, struct offer *offer, struct error *err)
{
    struct shared_memory *const memory = exchange->memory;
    const struct cuda_api *const api = exchange->gpu->api;
    void *what = NULL;

    FAIL_IF(offer == NULL, err, NVBW_E_SYSTEM, "no memory for offers");
    what = &offer->fabric;
    memory->bytes = offer->bytes;
    if (exchange->peers->handle == PEERS_DESCRIPTOR) {
        TRY(peers_socket_receive(exchange->peers->socket,
            exchange->peers->steps, exchange->peers->step_ns / 2,
            &memory->descriptor, err));
        what = (void *)(intptr_t)memory->descriptor;
    }
    TRY(gpu_use(exchange->gpu, err));
    CUDA_TRY(api, err,
        api->vmm_import(
            &memory->handle, what, shared_handle_type(exchange->peers->handle)),
        "GPU %d: the memory of rank %u cannot be imported",
        exchange->gpu->facts->index, exchange->owner);
    return NVBW_OK;
}

/* All look at the same offers, so all come to the same. Ranks that want other
 * memory have come by another way, and cannot go on together. */
static int32_t check_offers(const struct exchange *exchange,
    const struct offer *offers, uint64_t wanted, struct error *err)
{
    struct peers *const peers = exchange->peers;

    FAIL_IF(offers == NULL, err, NVBW_E_SYSTEM, "no memory for offers");

    const uint64_t bytes = offers[exchange->owner].bytes;

    for (uint32_t i = 0; i < peers->ranks; i++) {
        if (offers[i].owner == offers[0].owner &&
            offers[i].wanted == offers[0].wanted) {
            continue;
        }
        error_set(&peers->lost, PEERS_E_LOST,
            "rank %u wants %" PRIu64 " bytes of rank %" PRIu64
            " where rank 0 wants %" PRIu64 " bytes of rank %" PRIu64,
            i, offers[i].wanted, offers[i].owner, offers[0].wanted,
            offers[0].owner);
        if (err != NULL) {
            *err = peers->lost;
        }
        return PEERS_E_LOST;
    }
    FAIL_IF(bytes < wanted, err, NVBW_E_SYSTEM,
        "rank %u shares %" PRIu64 " bytes of memory, %" PRIu64 " are needed",
        exchange->owner, bytes, wanted);
    return NVBW_OK;
}

int32_t shared_pass(const struct exchange *exchange, struct error *err)
{
    struct peers *const peers = exchange->peers;
    const int is_owner = peers->rank == exchange->owner;
    struct offer *const offers = calloc(peers->ranks, sizeof *offers);
    const uint64_t wanted = exchange->memory->bytes;
    struct offer mine = { .owner = exchange->owner, .wanted = wanted };
    int32_t status = NVBW_OK;

    if (offers == NULL) {
        status = error_set(err, NVBW_E_SYSTEM, "no memory for handles");
    } else if (is_owner) {
        status = export_memory(exchange, &mine, err);
    }
    status = status < 0 ? peers_check(peers, "offer memory", status, err)
                        : peers_gather(peers, "offer memory", &mine, offers,
                              sizeof mine, err);
    if (status >= 0) {
        status = check_offers(exchange, offers, wanted, err);
    }
    if (status >= 0 && is_owner) {
        status = peers->handle == PEERS_DESCRIPTOR ? send_to_all(exchange, err)
                                                   : NVBW_OK;
    } else if (status >= 0) {
        status = import(exchange, &offers[exchange->owner], err);
    }
    free(offers);
    return status;
}

/* ---- The whole of it ---- */

static int32_t make(const struct exchange *exchange, struct error *err)
{
    return shared_create(exchange->gpu, exchange->peers->handle,
        &exchange->memory->bytes, &exchange->memory->handle, err);
}

static int32_t share(const struct exchange *exchange, struct error *err)
{
    TRY(shared_pass(exchange, err));
    return shared_map(exchange->gpu, exchange->memory, err);
}

void peers_unmap(struct engine *engine, struct shared_memory *memory)
{
    shared_unmap(&engine->gpus[engine->setup.peers->rank], memory);
}

/* A descriptor that was passed on may be closed when all have it; a mapping
 * keeps memory whose handle was given back. */
int32_t peers_map(struct peers *peers, struct engine *engine, uint32_t owner,
    uint64_t bytes, struct shared_memory *out, struct error *err)
{
    const struct gpu *const gpu = &engine->gpus[peers->rank];
    const struct exchange exchange = { peers, engine, gpu, owner, out, make };

    /* All ranks stand together here, whatever they agreed on before: it may be
     * the second try, after the first found too little memory. */
    peers->agreed = 0;
    *out = (struct shared_memory){ .bytes = bytes, .descriptor = -1 };

    const int32_t status =
        peers_check(peers, "map memory", share(&exchange, err), err);

    shared_close(gpu, out);
    if (status < 0) {
        peers_unmap(engine, out);
    }
    return status;
}
