/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The kernels that follow chains of dependent loads: loaded when a flow needs
 * them. */
#include "gpu.h"

#define KERNEL_NAME(name, args) "nvbw_" #name,
static const char *const kernel_names[CHASE_KERNELS_END] = { CHASE_KERNELS(
    KERNEL_NAME) };

int32_t gpu_need_chase(struct gpu *gpu, struct error *err)
{
    TRY(gpu_load_family(gpu, KERNEL_FAMILY_CHASE, err));
    for (uint32_t i = 0; i < CHASE_KERNELS_END; i++) {
        if (gpu->chase_kernels[i] == NULL) {
            CUDA_TRY(gpu->api, err,
                gpu->api->module_function(&gpu->chase_kernels[i],
                    gpu->modules[KERNEL_FAMILY_CHASE], kernel_names[i]),
                "GPU %d: kernel %s", gpu->facts->index, kernel_names[i]);
        }
    }
    return NVBW_OK;
}

int32_t gpu_launch_chase(const struct gpu *gpu, uint32_t kernel,
    struct CUstream_st *stream, void *args, uint64_t blocks, uint32_t threads,
    struct error *err)
{
    void *parameters[] = { args };

    CUDA_TRY(gpu->api, err,
        gpu->api->launch(gpu->chase_kernels[kernel], (unsigned int)blocks, 1, 1,
            threads, 1, 1, 0, stream, parameters, NULL),
        "GPU %d: kernel %s was not launched", gpu->facts->index,
        kernel_names[kernel]);
    return NVBW_OK;
}
