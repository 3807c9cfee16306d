/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What NVML tells of one GPU: texts, numbers, memory, health. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_nvml.h"

/* Begins a function about a device; `gpu` is what the profile says. */
#define ENTER(symbol)                                                          \
    const struct profile_gpu *gpu = NULL;                                      \
    const nvml_result refused_ =                                               \
        nvml_enter_device(CALL_##symbol, device, &gpu);                        \
    if (refused_ != NVML_DONE) {                                               \
        return refused_;                                                       \
    }

#define TEXT_FUNCTION(symbol, member)                                          \
    nvml_result symbol(                                                        \
        struct nvmlDevice_st *device, char *out, unsigned int size)            \
    {                                                                          \
        ENTER(symbol)                                                          \
        return nvml_give_text(out, size, gpu->member);                         \
    }

TEXT_FUNCTION(nvmlDeviceGetName, model)
TEXT_FUNCTION(nvmlDeviceGetUUID, uuid)
TEXT_FUNCTION(nvmlDeviceGetSerial, serial)
TEXT_FUNCTION(nvmlDeviceGetVbiosVersion, vbios)
TEXT_FUNCTION(nvmlDeviceGetBoardPartNumber, board)

static nvml_result give_number(unsigned int *out, uint32_t number)
{
    if (out == NULL) {
        return NVML_INVALID_ARGUMENT;
    }
    *out = number;
    return number != 0 ? (nvml_result)NVML_DONE
                       : (nvml_result)NVML_NOT_SUPPORTED;
}

#define NUMBER_FUNCTION(symbol, member)                                        \
    nvml_result symbol(struct nvmlDevice_st *device, unsigned int *out)        \
    {                                                                          \
        ENTER(symbol)                                                          \
        return give_number(out, gpu->member);                                  \
    }

NUMBER_FUNCTION(nvmlDeviceGetCurrPcieLinkGeneration, pcie.gen)
NUMBER_FUNCTION(nvmlDeviceGetCurrPcieLinkWidth, pcie.width)
NUMBER_FUNCTION(nvmlDeviceGetMaxPcieLinkGeneration, pcie.max_gen)
NUMBER_FUNCTION(nvmlDeviceGetMaxPcieLinkWidth, pcie.max_width)
NUMBER_FUNCTION(nvmlDeviceGetGpuMaxPcieLinkGeneration, pcie.max_gen)
NUMBER_FUNCTION(nvmlDeviceGetMemoryBusWidth, memory_bus_bits)

nvml_result nvmlDeviceGetMaxClockInfo(
    struct nvmlDevice_st *device, unsigned int clock, unsigned int *out)
{
    ENTER(nvmlDeviceGetMaxClockInfo)
    return give_number(out, clock == NVML_CLOCK_IS_MEMORY
                                ? gpu->memory_clock_mhz
                                : gpu->sm_clock_mhz);
}

void nvml_give_pci(const char *address, struct nvml_pci *out)
{
    char *end = NULL;

    memset(out, 0, sizeof *out);
    out->domain = (unsigned int)strtoul(address, &end, 16);
    out->bus = (unsigned int)strtoul(end + 1, &end, 16);
    out->device = (unsigned int)strtoul(end + 1, NULL, 16);
    snprintf(out->bus_id, sizeof out->bus_id, "%08X:%02X:%02X.0", out->domain,
        out->bus & 255, out->device & 255);
    snprintf(out->bus_legacy, sizeof out->bus_legacy, "%04X:%02X:%02X.0",
        out->domain & 65535, out->bus & 255, out->device & 255);
}

nvml_result nvmlDeviceGetPciInfo_v3(
    struct nvmlDevice_st *device, struct nvml_pci *out)
{
    ENTER(nvmlDeviceGetPciInfo_v3)
    nvml_give_pci(gpu->pci, out);
    return NVML_DONE;
}

nvml_result nvmlDeviceGetMemoryInfo(
    struct nvmlDevice_st *device, struct nvml_memory *out)
{
    ENTER(nvmlDeviceGetMemoryInfo)
    out->total = (unsigned long long)gpu->memory_mib << 20;
    out->used = (unsigned long long)gpu->reserved_mib << 20;
    out->free = out->total - out->used;
    return NVML_DONE;
}

nvml_result nvmlDeviceGetMigMode(struct nvmlDevice_st *device,
    unsigned int *out_now, unsigned int *out_pending)
{
    ENTER(nvmlDeviceGetMigMode)
    *out_now = gpu->mig;
    *out_pending = gpu->mig;
    return NVML_DONE;
}

/* The profile names at most one, as "PID NAME". */
nvml_result nvmlDeviceGetComputeRunningProcesses_v3(
    struct nvmlDevice_st *device, unsigned int *count, struct nvml_process *out)
{
    ENTER(nvmlDeviceGetComputeRunningProcesses_v3)
    const unsigned int room = *count;
    const unsigned long pid = strtoul(gpu->process, NULL, 10);

    *count = pid != 0;
    if (*count > room) {
        return NVML_INSUFFICIENT_SIZE;
    }
    if (*count == 1 && out != NULL) {
        *out = (struct nvml_process){ .pid = (unsigned int)pid };
    }
    return NVML_DONE;
}

nvml_result nvmlDeviceGetTotalEccErrors(struct nvmlDevice_st *device,
    unsigned int type, unsigned int counter, unsigned long long *out)
{
    ENTER(nvmlDeviceGetTotalEccErrors)
    (void)counter;
    *out = type == NVML_ECC_UNCORRECTED
               ? gpu->ecc_uncorrected + nvml_struck(device, FAULT_GPU_ECC)
               : 0;
    return NVML_DONE;
}

nvml_result nvmlDeviceGetRemappedRows(struct nvmlDevice_st *device,
    unsigned int *out_corrected, unsigned int *out_uncorrected,
    unsigned int *out_pending, unsigned int *out_failed)
{
    ENTER(nvmlDeviceGetRemappedRows)
    *out_corrected = 0;
    *out_uncorrected = gpu->rows_remapped;
    *out_pending = 0;
    *out_failed = 0;
    return NVML_DONE;
}
