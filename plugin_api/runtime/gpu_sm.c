/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The kernels that move bytes: loaded when a flow needs them, so that builds
 * without nvcc still copy by the engine. */
#include "gpu.h"

#include "kernel_images.h"

enum { HOPPER_COMPUTE = 90 };

#define KERNEL_NAME(name, args) "nvbw_" #name,
static const char *const kernel_names[SM_KERNELS_END] = { SM_KERNELS(
    KERNEL_NAME) };

uint32_t gpu_sm_threads(uint32_t kernel)
{
    return kernel == SM_KERNEL_tma ? TMA_THREADS : SM_THREADS;
}

static int32_t skip_hopper(struct error *err, int32_t reason)
{
    if (err != NULL) {
        err->code = reason;
    }
    return NVBW_E_SKIPPED;
}

int32_t gpu_need_hopper(
    const struct gpu *gpu, const char *what, struct error *err)
{
    const uint32_t compute = gpu->facts->compute;

    if (compute < HOPPER_COMPUTE) {
        error_set(err, NVBW_E_SKIPPED,
            "%s need compute capability 9.0, GPU %d has %u.%u", what,
            gpu->facts->index, compute / 10, compute % 10);
        return skip_hopper(err, NVBW_SKIP_ARCH_TOO_OLD);
    }
    if (kernel_images_built && !kernel_images_hopper &&
        gpu->api->sim_now == NULL) {
        error_set(err, NVBW_E_SKIPPED,
            "%s need kernels by nvcc 12.1 or newer, this build has an older "
            "one's",
            what);
        return skip_hopper(err, NVBW_SKIP_NOT_BUILT);
    }
    return NVBW_OK;
}

int32_t gpu_need_sm(struct gpu *gpu, struct error *err)
{
    TRY(gpu_load_family(gpu, KERNEL_FAMILY_SM, err));
    for (uint32_t i = 0; i < SM_KERNELS_END; i++) {
        if (gpu->sm_kernels[i] == NULL) {
            CUDA_TRY(gpu->api, err,
                gpu->api->module_function(&gpu->sm_kernels[i],
                    gpu->modules[KERNEL_FAMILY_SM], kernel_names[i]),
                "GPU %d: kernel %s", gpu->facts->index, kernel_names[i]);
        }
    }
    return NVBW_OK;
}

int32_t gpu_launch_sm(const struct gpu *gpu, uint32_t kernel,
    struct CUstream_st *stream, void *args, uint64_t blocks, struct error *err)
{
    void *parameters[] = { args };

    CUDA_TRY(gpu->api, err,
        gpu->api->launch(gpu->sm_kernels[kernel], (unsigned int)blocks, 1, 1,
            gpu_sm_threads(kernel), 1, 1, 0, stream, parameters, NULL),
        "GPU %d: kernel %s was not launched", gpu->facts->index,
        kernel_names[kernel]);
    return NVBW_OK;
}
