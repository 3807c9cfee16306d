/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Memory of a GPU, as cuMemAlloc gives it. */
#include <inttypes.h>
#include <string.h>

#include "buffer_kinds.h"
#include "clock.h"
#include "engine_state.h"

enum { SCRUB_BYTES_PER_NS = 250 };

static int32_t too_little(const struct gpu *gpu, uint64_t wanted,
    uint64_t free_bytes, struct error *err)
{
    error_set(err, NVBW_E_SKIPPED,
        "%" PRIu64 " MiB asked for on GPU %d, which has %" PRIu64
        " MiB free: use a smaller buffer_size or end what else uses it",
        wanted >> 20, gpu->facts->index, free_bytes >> 20);
    if (err != NULL) {
        err->code = NVBW_SKIP_MEMORY;
    }
    return NVBW_E_SKIPPED;
}

static int32_t make(
    const struct buffer_want *want, struct buffer *out, struct error *err)
{
    struct gpu *gpu = NULL;
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    cu_address address = 0;

    TRY(engine_gpu(want->engine, want->place, &gpu, err));
    TRY(gpu_use(gpu, err));
    CUDA_TRY(gpu->api, err, gpu->api->memory_info(&free_bytes, &total_bytes),
        "GPU %d: free memory is not told", gpu->facts->index);
    if (want->bytes > free_bytes) {
        return too_little(gpu, want->bytes, free_bytes, err);
    }

    const cu_result result = gpu->api->memory_alloc(&address, want->bytes);

    if (result == CU_ERROR_OUT_OF_MEMORY) {
        return too_little(gpu, want->bytes, free_bytes, err);
    }
    CUDA_TRY(gpu->api, err, result, "GPU %d: %" PRIu64 " MiB",
        gpu->facts->index, want->bytes >> 20);
    memset(out, 0, sizeof *out);
    out->kind = &buffer_device;
    out->place = want->place;
    out->executor = want->executor;
    out->bytes = want->bytes;
    out->device = address;
    out->node_seen = -2;
    out->state = gpu;
    return NVBW_OK;
}

/* A driver scrubs what is freed, in the background and with a tenth of the
 * memory's bandwidth, so figures have to wait for it. On H200 it went at 450
 * GB/s; nothing tells when it is over. */
static void destroy(struct buffer *buffer)
{
    struct gpu *const gpu = buffer->state;

    if (gpu_use(gpu, NULL) == NVBW_OK) {
        gpu->api->memory_free(buffer->device);

        const uint64_t now_ns = clock_now_ns();
        const uint64_t from_ns =
            gpu->quiet_ns > now_ns ? gpu->quiet_ns : now_ns;

        gpu->quiet_ns = from_ns + buffer->bytes / SCRUB_BYTES_PER_NS;
    }
}

const struct buffer_kind buffer_device = {
    .memory = NVBW_MEM_DEVICE,
    .on_host = 0,
    .gateable = 1,
    .make = make,
    .destroy = destroy,
};
