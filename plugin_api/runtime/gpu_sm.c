/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The kernels that move bytes: loaded when a flow needs them, so that builds
 * without nvcc still copy by the engine. */
#include "gpu.h"

#define KERNEL_NAME(name, args) "nvbw_" #name,
static const char *const kernel_names[SM_KERNELS_END] = { SM_KERNELS(
    KERNEL_NAME) };

uint32_t gpu_sm_threads(uint32_t kernel)
{
    return kernel == SM_KERNEL_tma ? TMA_THREADS : SM_THREADS;
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
