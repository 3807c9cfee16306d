/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "gpu.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "driver_codes.h"

enum { LAUNCH_THREADS = 256, LAUNCH_BLOCKS_PER_UNIT = 8 };

#define KERNEL_NAME(name) "nvbw_" #name,
static const char *const kernel_names[GPU_KERNELS] = { ENGINE_KERNELS(
    KERNEL_NAME) };

int32_t gpu_use(const struct gpu *gpu, struct error *err)
{
    CUDA_TRY(gpu->api, err, gpu->api->context_set(gpu->context),
        "GPU %d: its context cannot be made current", gpu->facts->index);
    return NVBW_OK;
}

/* "GPU-6f9b2d1c-..." against sixteen bytes; also "MIG-...". */
static int is_uuid(const char *text, const struct cu_uuid *uuid)
{
    const char *at = text == NULL ? NULL : strchr(text, '-');

    for (uint32_t i = 0; at != NULL && i < sizeof uuid->bytes; i++) {
        char byte[3] = { 0 };

        at += *at == '-';
        memcpy(byte, at, strnlen(at, 2));
        if (strtoul(byte, NULL, 16) != (unsigned char)uuid->bytes[i]) {
            return 0;
        }
        at += strnlen(at, 2);
    }
    return at != NULL && *at == '\0';
}

/* The driver writes domains of four digits, NVML of eight. */
static int is_pci(const char *one, const char *other)
{
    if (one == NULL || other == NULL) {
        return 0;
    }

    const size_t a = strlen(one);
    const size_t b = strlen(other);

    return a >= 12 && b >= 12 && strcasecmp(one + a - 12, other + b - 12) == 0;
}

static void match_device(struct gpu *gpus, uint32_t count, int device,
    const struct cu_uuid *uuid, const char *pci)
{
    struct gpu *in_its_place = NULL;

    for (uint32_t i = 0; i < count; i++) {
        const struct gpu_facts *const facts = gpus[i].facts;

        if (is_uuid(facts->uuid, uuid) ||
            (facts->uuid == NULL && is_pci(facts->pci, pci))) {
            gpus[i].device = device;
            return;
        }
        if (is_pci(facts->pci, pci)) {
            in_its_place = &gpus[i];
        }
    }
    /* Slices share their GPU's address, so only whole GPUs are compared. */
    if (in_its_place != NULL && in_its_place->facts->uuid != NULL &&
        strncmp(in_its_place->facts->uuid, "MIG-", 4) != 0) {
        in_its_place->exchanged = 1;
    }
}

int32_t gpu_find_devices(struct gpu *gpus, uint32_t count, struct error *err)
{
    const struct cuda_api *const api = gpus[0].api;
    int found = 0;

    CUDA_TRY(api, err, api->device_count(&found),
        "the driver does not count its devices");
    for (int i = 0; i < found; i++) {
        struct cu_uuid uuid = { { 0 } };
        char pci[32] = "";
        int device = -1;

        CUDA_TRY(api, err, api->device_get(&device, i), "device %d", i);
        CUDA_TRY(
            api, err, api->device_uuid(&uuid, device), "device %d: no UUID", i);
        CUDA_TRY(api, err, api->device_pci(pci, sizeof pci, device),
            "device %d: no PCI address", i);
        match_device(gpus, count, device, &uuid, pci);
    }
    return NVBW_OK;
}

/* What the driver says of an image that is not for it. */
static int is_about_image(cu_result result)
{
    static const cu_result about[] = { CU_ERROR_INVALID_IMAGE,
        CU_ERROR_NO_BINARY_FOR_GPU, CU_ERROR_INVALID_PTX,
        CU_ERROR_JIT_COMPILER_NOT_FOUND, CU_ERROR_UNSUPPORTED_PTX_VERSION,
        CU_ERROR_JIT_COMPILATION_DISABLED };

    for (size_t i = 0; i < sizeof about / sizeof *about; i++) {
        if (about[i] == result) {
            return 1;
        }
    }
    return 0;
}

/* Machine code first, then text, then what only the simulated driver takes:
 * each refuses what it does not know. */
int32_t gpu_load_family(struct gpu *gpu, uint32_t family, struct error *err)
{
    if (gpu->modules[family] != NULL) {
        return NVBW_OK;
    }

    const struct kernel_family *const forms = &kernel_families[family];
    const void *const images[] = { forms->fatbin, forms->ptx, forms->names };
    cu_result result = CU_ERROR_INVALID_IMAGE;
    cu_result first = CU_SUCCESS;

    for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
        if (images[i] == NULL) {
            continue;
        }
        result = gpu->api->module_load(&gpu->modules[family], images[i]);
        if (result == CU_SUCCESS) {
            return NVBW_OK;
        }
        first = first == CU_SUCCESS ? result : first;
    }
    cuda_fail(gpu->api, err, first,
        "GPU %d: the %s kernels of this build cannot be loaded%s",
        gpu->facts->index, forms->name,
        kernel_images_built ? "" : ", as it was made without nvcc");
    if (!is_about_image(first)) {
        return NVBW_E_CUDA;
    }
    if (err != NULL) {
        err->status = NVBW_E_SKIPPED;
        err->code = NVBW_SKIP_NOT_BUILT;
    }
    return NVBW_E_SKIPPED;
}

static int32_t load_kernels(struct gpu *gpu, struct error *err)
{
    TRY(gpu_load_family(gpu, KERNEL_FAMILY_ENGINE, err));
    for (uint32_t i = 0; i < GPU_KERNELS; i++) {
        CUDA_TRY(gpu->api, err,
            gpu->api->module_function(&gpu->kernels[i],
                gpu->modules[KERNEL_FAMILY_ENGINE], kernel_names[i]),
            "GPU %d: kernel %s", gpu->facts->index, kernel_names[i]);
    }
    return NVBW_OK;
}

static int32_t open_context(struct gpu *gpu, struct error *err)
{
    const int index = gpu->facts->index;

    CUDA_TRY(gpu->api, err,
        gpu->api->context_retain(&gpu->context, gpu->device),
        "GPU %d: no context", index);
    TRY(gpu_use(gpu, err));
    TRY(load_kernels(gpu, err));
    CUDA_TRY(gpu->api, err,
        gpu->api->stream_create(&gpu->stream, CU_STREAM_IS_NON_BLOCKING),
        "GPU %d: no stream", index);
    CUDA_TRY(gpu->api, err, gpu->api->memory_alloc(&gpu->room, GPU_ROOM_BYTES),
        "GPU %d: no memory for the engine", index);
    return NVBW_OK;
}

/* What runs for the first time behind a closed gate may load code, which can
 * wait for the gate for ever: so everything runs once before. No kernel reads
 * of the room what was never written. */
static int32_t try_kernels(struct gpu *gpu, struct error *err)
{
    const uint64_t spare = gpu->room + GPU_ROOM_SPARE;
    const uint64_t bytes = 1024;
    struct fill_args fill = { spare, bytes, 1 };
    struct poison_args poison = { spare + bytes, bytes, 1 };
    struct compare_args compare = { spare, bytes, 1, spare + 2 * bytes,
        spare + 2 * bytes + 8 };
    struct sum_args sum = { spare, bytes, spare + 2 * bytes + 16 };
    struct gate_args gate = { spare, spare + 2 * bytes + 24, 1000 };

    CUDA_TRY(gpu->api, err,
        gpu->api->set_words_async(
            gpu->room, 0, GPU_ROOM_BYTES / 4, gpu->stream),
        "GPU %d: memory cannot be set", gpu->facts->index);
    TRY(gpu_launch(gpu, GPU_KERNEL_fill, gpu->stream, &fill, bytes, err));
    TRY(gpu_launch(gpu, GPU_KERNEL_poison, gpu->stream, &poison, bytes, err));
    TRY(gpu_launch(gpu, GPU_KERNEL_compare, gpu->stream, &compare, bytes, err));
    TRY(gpu_launch(gpu, GPU_KERNEL_sum, gpu->stream, &sum, bytes, err));
    TRY(gpu_launch(gpu, GPU_KERNEL_gate, gpu->stream, &gate, 0, err));
    return gpu_wait(
        gpu, gpu->stream, UINT64_C(10000000000), "first kernels", err);
}

struct opening {
    struct gpu *gpu;
    pthread_t thread;
    atomic_int is_done;
    int32_t status;
    struct error err;
};

static void *open_in_thread(void *user)
{
    struct opening *const opening = user;

    opening->status = open_context(opening->gpu, &opening->err);
    atomic_store(&opening->is_done, 1);
    return NULL;
}

/* Without a thread the GPU is opened by who finishes it. */
static void start_opening(struct gpu *gpu)
{
    struct opening *const opening =
        gpu->ready || gpu->opening != NULL ? NULL : calloc(1, sizeof *opening);

    if (opening == NULL) {
        return;
    }
    opening->gpu = gpu;
    gpu->opening = opening;
    if (pthread_create(&opening->thread, NULL, open_in_thread, opening) != 0) {
        gpu->opening = NULL;
        free(opening);
    }
}

/* After its thread has ended. */
static int32_t take_opening(struct gpu *gpu, struct error *err)
{
    struct opening *const opening = gpu->opening;
    const int32_t status = opening->status;

    gpu->opening = NULL;
    if (status < 0 && err != NULL) {
        *err = opening->err;
    }
    free(opening);
    return status;
}

/* All that opening took, as far as it came. */
static void give_back(struct gpu *gpu)
{
    const struct cuda_api *const api = gpu->api;

    if (gpu->context == NULL || api->context_set(gpu->context) != CU_SUCCESS) {
        return;
    }
    if (gpu->room != 0) {
        api->memory_free(gpu->room);
    }
    if (gpu->stream != NULL) {
        api->stream_destroy(gpu->stream);
    }
    for (uint32_t i = 0; i < KERNEL_FAMILIES; i++) {
        if (gpu->modules[i] != NULL) {
            api->module_unload(gpu->modules[i]);
        }
        gpu->modules[i] = NULL;
    }
    api->context_set(NULL);
    api->context_release(gpu->device);
    gpu->room = 0;
    gpu->stream = NULL;
    gpu->context = NULL;
    gpu->ready = 0;
}

/* A context that hangs or is broken is left as it is: so would be who frees
 * something of it. */
static int is_left_alone(const struct error *err)
{
    return err->status == NVBW_E_CUDA &&
           (driver_code_is_sticky(err->code) || err->code == CU_ERROR_TIMEOUT);
}

static int32_t open_wholly(struct gpu *gpu, struct error *err)
{
    TRY(gpu->opening != NULL ? take_opening(gpu, err) : open_context(gpu, err));
    TRY(gpu_use(gpu, err));
    return try_kernels(gpu, err);
}

/* Who needs the GPU later tries anew, from the begin. */
static int32_t finish_opening(struct gpu *gpu, struct error *err)
{
    struct error why = { 0 };

    if (gpu->ready) {
        return NVBW_OK;
    }

    const int32_t status = open_wholly(gpu, &why);

    if (status >= 0) {
        gpu->ready = 1;
        return NVBW_OK;
    }
    if (!is_left_alone(&why)) {
        give_back(gpu);
    }
    if (err != NULL) {
        *err = why;
    }
    return status;
}

static void join(struct gpu *gpu)
{
    if (gpu->opening != NULL) {
        pthread_join(gpu->opening->thread, NULL);
    }
}

static int32_t tell_trouble(struct gpu *gpu, struct error *err)
{
    const struct error trouble = gpu->trouble;

    gpu->trouble = (struct error){ 0 };
    if (trouble.status < 0 && err != NULL) {
        *err = trouble;
    }
    return trouble.status < 0 ? trouble.status : NVBW_OK;
}

void gpu_open_ahead(struct gpu *gpu)
{
    if (gpu->device >= 0 && gpu->trouble.status == NVBW_OK) {
        start_opening(gpu);
    }
}

/* By looking rather than by a join with a deadline, which checkers of threads
 * do not know. */
void gpu_await_ahead(struct gpu *gpu, uint64_t until_ns)
{
    static const struct timespec pause = { .tv_nsec = 1000000 };

    if (gpu->ready || gpu->opening == NULL) {
        return;
    }
    while (!atomic_load(&gpu->opening->is_done)) {
        if (clock_machine_ns() >= until_ns) {
            return;
        }
        nanosleep(&pause, NULL);
    }
    join(gpu);
    finish_opening(gpu, &gpu->trouble);
}

static int32_t look_at_device(const struct gpu *gpu, struct error *err)
{
    if (gpu->device >= 0) {
        return NVBW_OK;
    }
    FAIL_IF(gpu->exchanged, err, GPU_E_FACTS_CHANGED,
        "GPU %d was %s at %s when the run was planned, now another device is "
        "there; start a new run",
        gpu->facts->index, gpu->facts->uuid, gpu->facts->pci);
    error_set(err, NVBW_E_SKIPPED,
        "GPU %d (%s) is not offered by the driver to this process; check "
        "CUDA_VISIBLE_DEVICES",
        gpu->facts->index,
        gpu->facts->uuid != NULL ? gpu->facts->uuid : "no UUID");
    if (err != NULL) {
        err->code = NVBW_SKIP_NO_DEVICE;
    }
    return NVBW_E_SKIPPED;
}

int32_t gpu_open_all(struct gpu *gpus, uint32_t gpus_count,
    const uint32_t *positions, uint32_t count, struct error *err)
{
    int32_t status = NVBW_OK;

    for (uint32_t i = 0; i < count; i++) {
        FAIL_IF(positions[i] >= gpus_count, err, NVBW_E_INVALID,
            "there is no GPU at position %u", positions[i]);
        TRY(look_at_device(&gpus[positions[i]], err));
        TRY(tell_trouble(&gpus[positions[i]], err));
    }
    for (uint32_t i = 0; i < count; i++) {
        start_opening(&gpus[positions[i]]);
    }
    for (uint32_t i = 0; i < count; i++) {
        join(&gpus[positions[i]]);
    }
    /* Each is finished, since each was joined; the first error counts. */
    for (uint32_t i = 0; i < count; i++) {
        const int32_t one =
            finish_opening(&gpus[positions[i]], status >= 0 ? err : NULL);

        status = status < 0 ? status : one;
    }
    return status;
}

void gpu_close(struct gpu *gpu)
{
    /* Nothing is freed under a thread that uses it. */
    join(gpu);
    if (gpu->opening != NULL) {
        take_opening(gpu, NULL);
    }
    give_back(gpu);
}

int32_t gpu_launch(const struct gpu *gpu, uint32_t kernel,
    struct CUstream_st *stream, void *args, uint64_t bytes, struct error *err)
{
    void *parameters[] = { args };
    const uint64_t words = (bytes + 7) / 8;
    const uint64_t wanted = (words + LAUNCH_THREADS - 1) / LAUNCH_THREADS;
    const uint64_t most = (uint64_t)LAUNCH_BLOCKS_PER_UNIT *
                          (gpu->facts->units > 0 ? gpu->facts->units : 1);
    const uint64_t blocks = wanted < most ? wanted : most;

    CUDA_TRY(gpu->api, err,
        gpu->api->launch(gpu->kernels[kernel],
            blocks > 0 ? (unsigned int)blocks : 1, 1, 1,
            bytes > 0 ? LAUNCH_THREADS : 1, 1, 1, 0, stream, parameters, NULL),
        "GPU %d: kernel %s was not launched", gpu->facts->index,
        kernel_names[kernel]);
    return NVBW_OK;
}

int32_t gpu_wait(const struct gpu *gpu, struct CUstream_st *stream,
    uint64_t limit_ns, const char *what, struct error *err)
{
    const uint64_t deadline = clock_now_ns() + limit_ns;

    TRY(gpu_use(gpu, err));
    for (;;) {
        const cu_result result = gpu->api->stream_query(stream);

        if (result == CU_SUCCESS) {
            return NVBW_OK;
        }
        if (result != CU_ERROR_NOT_READY) {
            return cuda_fail(
                gpu->api, err, result, "GPU %d: %s", gpu->facts->index, what);
        }
        if (clock_now_ns() > deadline) {
            error_set(err, NVBW_E_CUDA,
                "GPU %d: %s did not end within %.0f s; the GPU may hang, see "
                "dmesg for Xid lines",
                gpu->facts->index, what, (double)limit_ns / 1e9);
            if (err != NULL) {
                err->code = CU_ERROR_TIMEOUT;
            }
            return NVBW_E_CUDA;
        }
    }
}
