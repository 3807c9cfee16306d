/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Page-locked memory: placed and populated first, then registered with the
 * driver for every context, so that its node is ours to choose. */
#include <inttypes.h>

#include "buffer_host.h"
#include "buffer_kinds.h"
#include "engine_state.h"

static int32_t register_memory(
    const struct gpu *gpu, struct buffer *out, struct error *err)
{
    const struct cuda_api *const api = gpu->api;
    cu_address address = 0;

    TRY(gpu_use(gpu, err));

    const cu_result result = api->host_register(out->host, out->bytes,
        CU_HOST_REGISTER_PORTABLE | CU_HOST_REGISTER_MAPPED);

    if (result == CU_ERROR_OUT_OF_MEMORY) {
        error_set(err, NVBW_E_SKIPPED,
            "%" PRIu64 " MiB of host memory cannot be page-locked; see the "
            "limit on locked memory and what is free",
            out->bytes >> 20);
        if (err != NULL) {
            err->code = NVBW_SKIP_MEMORY;
        }
        return NVBW_E_SKIPPED;
    }
    CUDA_TRY(api, err, result,
        "%" PRIu64 " MiB of host memory cannot be "
        "page-locked",
        out->bytes >> 20);
    if (api->host_address(&address, out->host, 0) != CU_SUCCESS) {
        api->host_unregister(out->host);
        return error_set(err, NVBW_E_CUDA,
            "GPU %d: page-locked memory has no address", gpu->facts->index);
    }
    out->device = address;
    return NVBW_OK;
}

static int32_t make(
    const struct buffer_want *want, struct buffer *out, struct error *err)
{
    struct gpu *gpu = NULL;

    TRY(engine_gpu(want->engine, want->executor, &gpu, err));
    TRY(buffer_host_make(want, HOST_PAGES_ADVISED, out, err));

    const int32_t status = register_memory(gpu, out, err);

    if (status < 0) {
        buffer_host_destroy(out);
        return status;
    }
    out->kind = &buffer_pinned;
    out->state = gpu;
    return NVBW_OK;
}

/* What the driver does not let go stays mapped: it would refuse whatever came
 * to its addresses next. */
static void destroy(struct buffer *buffer)
{
    const struct gpu *const gpu = buffer->state;

    if (gpu_use(gpu, NULL) == NVBW_OK &&
        gpu->api->host_unregister(buffer->host) == CU_SUCCESS) {
        buffer_host_destroy(buffer);
    }
}

const struct buffer_kind buffer_pinned = {
    .memory = NVBW_MEM_PINNED,
    .on_host = 1,
    .gateable = 1,
    .make = make,
    .destroy = destroy,
};
