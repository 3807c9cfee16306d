/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Host memory that only the driver can make: write-combined, and managed. Its
 * place is the driver's choice, near the GPU that asks; where it is, is read
 * back for the first and unknown for the second. */
#include <inttypes.h>
#include <string.h>

#include "buffer_kinds.h"
#include "engine_state.h"
#include "host_memory.h"

static int32_t begin(const struct buffer_want *want, struct gpu **out_gpu,
    struct buffer *out, struct error *err)
{
    TRY(engine_gpu(want->engine, want->executor, out_gpu, err));
    TRY(gpu_use(*out_gpu, err));
    memset(out, 0, sizeof *out);
    out->place = want->place;
    out->executor = want->executor;
    out->bytes = want->bytes;
    out->node_seen = HOST_NODE_UNKNOWN;
    out->state = *out_gpu;
    return NVBW_OK;
}

static int32_t no_memory(const struct gpu *gpu, cu_result result,
    const char *kind, uint64_t bytes, struct error *err)
{
    const int32_t status = cuda_fail(gpu->api, err, result,
        "%" PRIu64 " MiB of %s memory for GPU %d", bytes >> 20, kind,
        gpu->facts->index);

    if (result != CU_ERROR_OUT_OF_MEMORY || err == NULL) {
        return status;
    }
    err->code = NVBW_SKIP_MEMORY;
    err->status = NVBW_E_SKIPPED;
    return NVBW_E_SKIPPED;
}

static int32_t make_write_combined(
    const struct buffer_want *want, struct buffer *out, struct error *err)
{
    struct gpu *gpu = NULL;
    cu_address address = 0;

    TRY(begin(want, &gpu, out, err));

    cu_result result = gpu->api->host_alloc(&out->host, want->bytes,
        CU_HOST_ALLOC_PORTABLE | CU_HOST_ALLOC_MAPPED |
            CU_HOST_ALLOC_WRITE_COMBINED);

    if (result == CU_SUCCESS) {
        result = gpu->api->host_address(&address, out->host, 0);
    }
    if (result != CU_SUCCESS) {
        return no_memory(gpu, result, "write-combined", want->bytes, err);
    }
    out->kind = &buffer_write_combined;
    out->device = address;
    out->node_seen = host_memory_node(out->host, out->bytes);
    return NVBW_OK;
}

static void destroy_write_combined(struct buffer *buffer)
{
    const struct gpu *const gpu = buffer->state;

    if (gpu_use(gpu, NULL) == NVBW_OK) {
        gpu->api->host_free(buffer->host);
    }
}

const struct buffer_kind buffer_write_combined = {
    .memory = NVBW_MEM_WRITE_COMBINED,
    .on_host = 1,
    .gateable = 1,
    .make = make_write_combined,
    .destroy = destroy_write_combined,
};

static int32_t make_managed(
    const struct buffer_want *want, struct buffer *out, struct error *err)
{
    struct gpu *gpu = NULL;
    cu_address address = 0;

    TRY(begin(want, &gpu, out, err));

    const cu_result result =
        gpu->api->managed_alloc(&address, want->bytes, CU_MANAGED_GLOBAL);

    if (result != CU_SUCCESS) {
        return no_memory(gpu, result, "managed", want->bytes, err);
    }
    out->kind = &buffer_managed;
    out->device = address;
    memcpy(&out->host, &address, sizeof out->host);
    return NVBW_OK;
}

static void destroy_managed(struct buffer *buffer)
{
    const struct gpu *const gpu = buffer->state;

    if (gpu_use(gpu, NULL) == NVBW_OK) {
        gpu->api->memory_free(buffer->device);
    }
}

const struct buffer_kind buffer_managed = {
    .memory = NVBW_MEM_MANAGED,
    .on_host = 1,
    .gateable = 0,
    .make = make_managed,
    .destroy = destroy_managed,
};
