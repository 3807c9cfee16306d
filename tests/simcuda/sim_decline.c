/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "sim_decline.h"

#include <stdio.h>

static void halve_rates(
    struct profile_gpu *gpu, const enum transfer_class *classes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        gpu->classes[classes[i]].rate /= 2;
    }
}

static void halve_pcie(struct profile_gpu *gpu)
{
    static const enum transfer_class classes[] = { TRANSFER_H2D, TRANSFER_D2H,
        TRANSFER_H2D_SM, TRANSFER_D2H_SM, TRANSFER_PAGEABLE_H2D,
        TRANSFER_PAGEABLE_D2H };

    halve_rates(gpu, classes, sizeof classes / sizeof classes[0]);
    gpu->pcie.down /= 2;
    gpu->pcie.up /= 2;
    gpu->pcie.duplex /= 2;
}

static void halve_nvlink(struct profile_gpu *gpu)
{
    gpu->nvlink.in /= 2;
    gpu->nvlink.out /= 2;
    gpu->nvlink.duplex /= 2;
}

/* Kernels start as fast as before. */
static void slow_down(struct profile_gpu *gpu)
{
    static const enum transfer_class classes[] = { TRANSFER_PEER_READ,
        TRANSFER_PEER_WRITE, TRANSFER_LOCAL, TRANSFER_PEER_READ_SM,
        TRANSFER_PEER_WRITE_SM, TRANSFER_LOCAL_SM, TRANSFER_READ_SM,
        TRANSFER_WRITE_SM, TRANSFER_MANAGED, TRANSFER_STAGED, TRANSFER_HOST };

    halve_rates(gpu, classes, sizeof classes / sizeof classes[0]);
    halve_pcie(gpu);
    halve_nvlink(gpu);
}

static void lose_lanes(struct profile_gpu *gpu)
{
    halve_pcie(gpu);
    gpu->pcie.width /= 2;
}

static void lose_nvlinks(struct profile_gpu *gpu)
{
    halve_nvlink(gpu);
    gpu->nvlink.active /= 2;
}

/* The first process of the machine has a name everywhere. */
static void share(struct profile_gpu *gpu)
{
    snprintf(gpu->process, sizeof gpu->process, "1 init");
}

/* Figures stay as they are: what NVML says must be enough. */
static void heat_up(struct profile_gpu *gpu)
{
    gpu->throttle |= 0x48;
    gpu->temperature = 92;
}

static void reach_power_limit(struct profile_gpu *gpu)
{
    gpu->throttle |= 0x4;
}

static const struct {
    enum fault_kind kind;
    void (*strike)(struct profile_gpu *gpu);
} declines[] = {
    { FAULT_GPU_SLOW, slow_down },
    { FAULT_GPU_PCIE, lose_lanes },
    { FAULT_GPU_NVLINK, lose_nvlinks },
    { FAULT_GPU_BUSY, share },
    { FAULT_GPU_HOT, heat_up },
    { FAULT_GPU_CAPPED, reach_power_limit },
};

int decline_gpu(const struct faults *faults, uint32_t gpu, uint64_t operations,
    uint32_t *declined, struct profile_gpu *profile)
{
    int changed = 0;

    for (size_t i = 0; i < sizeof declines / sizeof declines[0]; i++) {
        const uint32_t bit = UINT32_C(1) << i;

        if ((*declined & bit) == 0 &&
            faults_of_gpu(faults, declines[i].kind, gpu, operations) > 0) {
            *declined |= bit;
            declines[i].strike(profile);
            changed = 1;
        }
    }
    return changed;
}
