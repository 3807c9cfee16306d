/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What NVML tells of a GPU at work: clocks, what holds them down and for how
 * long, heat, load, errors, events. */
#include <string.h>
#include <time.h>

#include "sim_nvml.h"
#include "sim_segment.h"

#define ENTER(symbol)                                                          \
    const struct profile_gpu *gpu = NULL;                                      \
    const nvml_result refused_ =                                               \
        nvml_enter_device(CALL_##symbol, device, &gpu);                        \
    if (refused_ != NVML_DONE) {                                               \
        return refused_;                                                       \
    }

enum {
    POWER_CAP = 0x4,
    SW_THERMAL = 0x20,
    HW_THERMAL = 0x40,
    POWER_BRAKE = 0x80,
    REASON_BITS = 16,
    BUSY_PERCENT = 80,
    XID_OF_FAULT = 79
};

struct nvmlEventSet_st {
    unsigned char watched[PROFILE_GPUS_MAX], told[PROFILE_GPUS_MAX];
};
static struct nvmlEventSet_st events;

/* ---- clocks ---- */

nvml_result nvmlDeviceGetClockInfo(
    struct nvmlDevice_st *device, unsigned int clock, unsigned int *out)
{
    ENTER(nvmlDeviceGetClockInfo)
    *out = clock == NVML_CLOCK_IS_MEMORY ? gpu->memory_clock_mhz
                                         : gpu->sm_clock_mhz;
    return *out != 0 ? NVML_DONE : NVML_NOT_SUPPORTED;
}

nvml_result nvmlDeviceGetCurrentClocksEventReasons(
    struct nvmlDevice_st *device, unsigned long long *out)
{
    ENTER(nvmlDeviceGetCurrentClocksEventReasons)
    *out = gpu->throttle;
    return NVML_DONE;
}

nvml_result nvmlDeviceGetCurrentClocksThrottleReasons(
    struct nvmlDevice_st *device, unsigned long long *out)
{
    ENTER(nvmlDeviceGetCurrentClocksThrottleReasons)
    *out = gpu->throttle;
    return NVML_DONE;
}

/* Since this process last saw the GPU without the reason. */
static uint64_t held_ns(const struct nvmlDevice_st *device,
    const struct profile_gpu *gpu, uint32_t bit)
{
    static uint64_t since_ns[PROFILE_GPUS_MAX][REASON_BITS];
    uint64_t *since = &since_ns[nvml_index(device)][__builtin_ctz(bit)];

    if ((gpu->throttle & bit) == 0 || *since == 0) {
        *since = nvml_now_ns();
    }
    return (gpu->throttle & bit) == 0 ? 0 : nvml_now_ns() - *since;
}

nvml_result nvmlDeviceGetViolationStatus(struct nvmlDevice_st *device,
    unsigned int policy, struct nvml_violation *out)
{
    ENTER(nvmlDeviceGetViolationStatus)
    if (policy > NVML_POLICY_THERMAL) {
        return NVML_NOT_SUPPORTED;
    }
    out->reference_us = nvml_now_ns() / 1000;
    out->violation_ns = policy == NVML_POLICY_POWER
                            ? held_ns(device, gpu, POWER_CAP)
                            : held_ns(device, gpu, SW_THERMAL) +
                                  held_ns(device, gpu, HW_THERMAL);
    return NVML_DONE;
}

/* ---- heat and load ---- */

nvml_result nvmlDeviceGetPowerUsage(
    struct nvmlDevice_st *device, unsigned int *out)
{
    ENTER(nvmlDeviceGetPowerUsage)
    *out = gpu->power_w * 1000;
    return *out != 0 ? NVML_DONE : NVML_NOT_SUPPORTED;
}

nvml_result nvmlDeviceGetTemperature(
    struct nvmlDevice_st *device, unsigned int sensor, unsigned int *out)
{
    ENTER(nvmlDeviceGetTemperature)
    *out = gpu->temperature;
    return sensor == NVML_SENSOR_GPU && *out != 0 ? NVML_DONE
                                                  : NVML_NOT_SUPPORTED;
}

/* Only what others do shows: this machine's own work takes no real time. */
nvml_result nvmlDeviceGetUtilizationRates(
    struct nvmlDevice_st *device, struct nvml_utilisation *out)
{
    ENTER(nvmlDeviceGetUtilizationRates)
    out->gpu = gpu->process[0] != '\0' ? BUSY_PERCENT : 0;
    out->memory = out->gpu / 2;
    return NVML_DONE;
}

nvml_result nvmlDeviceGetGraphicsRunningProcesses_v3(
    struct nvmlDevice_st *device, unsigned int *count, struct nvml_process *out)
{
    ENTER(nvmlDeviceGetGraphicsRunningProcesses_v3)
    (void)out;
    *count = 0;
    return NVML_DONE;
}

/* ---- errors ---- */

nvml_result nvmlDeviceGetPcieReplayCounter(
    struct nvmlDevice_st *device, unsigned int *out)
{
    ENTER(nvmlDeviceGetPcieReplayCounter)
    *out = gpu->replays + (unsigned int)nvml_struck(device, FAULT_GPU_REPLAYS);
    return NVML_DONE;
}

/* All of them on the first link. */
nvml_result nvmlDeviceGetNvLinkErrorCounter(struct nvmlDevice_st *device,
    unsigned int link, unsigned int counter, unsigned long long *out)
{
    ENTER(nvmlDeviceGetNvLinkErrorCounter)
    if (gpu->nvlink.links == 0) {
        return NVML_NOT_SUPPORTED;
    }
    if (link >= gpu->nvlink.links || counter > NVML_LINK_CRC_DATA) {
        return NVML_INVALID_ARGUMENT;
    }
    *out = link == 0 ? nvml_struck(device, FAULT_GPU_LINK_ERRORS) : 0;
    return NVML_DONE;
}

/* ---- events ---- */

nvml_result nvmlEventSetCreate(struct nvmlEventSet_st **out)
{
    const nvml_result refused = nvml_enter(CALL_nvmlEventSetCreate);

    *out = &events;
    return refused;
}

nvml_result nvmlDeviceRegisterEvents(struct nvmlDevice_st *device,
    unsigned long long types, struct nvmlEventSet_st *set)
{
    ENTER(nvmlDeviceRegisterEvents)
    (void)types;
    (void)gpu;
    set->watched[nvml_index(device)] = 1;
    return NVML_DONE;
}

/* The fault makes one event. */
nvml_result nvmlEventSetWait_v2(struct nvmlEventSet_st *set,
    struct nvml_event *out, unsigned int timeout_ms)
{
    const nvml_result refused = nvml_enter(CALL_nvmlEventSetWait_v2);

    (void)timeout_ms;
    if (refused != NVML_DONE) {
        return refused;
    }
    for (uint32_t i = 0; i < nvml_profile()->count; i++) {
        struct nvmlDevice_st *const device = nvml_device(i);

        if (set->watched[i] && !set->told[i] &&
            nvml_struck(device, FAULT_GPU_XID) > 0) {
            set->told[i] = 1;
            *out = (struct nvml_event){
                .device = device, .type = NVML_EVENT_XID, .data = XID_OF_FAULT
            };
            return NVML_DONE;
        }
    }
    return NVML_TIMEOUT;
}

/* ---- the same as fields ---- */

/* 1 and the value, or 0 for a field that is none of these. */
int nvml_watch_field(const struct nvmlDevice_st *device,
    const struct profile_gpu *gpu, unsigned int field, uint64_t *out)
{
    const uint64_t link_errors = nvml_struck(device, FAULT_GPU_LINK_ERRORS);

    switch (field) {
    case NVML_FIELD_ECC_CORRECTED:
        *out = 0;
        return 1;
    case NVML_FIELD_ECC_UNCORRECTED:
        *out = nvml_struck(device, FAULT_GPU_ECC);
        return 1;
    case NVML_FIELD_LINK_CRC_FLIT:
    case NVML_FIELD_LINK_CRC_DATA:
    case NVML_FIELD_LINK_REPLAYS:
    case NVML_FIELD_LINK_RECOVERIES:
        *out = link_errors;
        return gpu->nvlink.links > 0;
    case NVML_FIELD_POWER_CAP_NS:
        *out = held_ns(device, gpu, POWER_CAP);
        return 1;
    case NVML_FIELD_SW_THERMAL_NS:
        *out = held_ns(device, gpu, SW_THERMAL);
        return 1;
    case NVML_FIELD_HW_THERMAL_NS:
        *out = held_ns(device, gpu, HW_THERMAL);
        return 1;
    case NVML_FIELD_POWER_BRAKE_NS:
        *out = held_ns(device, gpu, POWER_BRAKE);
        return 1;
    case NVML_FIELD_PCIE_REPLAYS:
        *out = gpu->replays + nvml_struck(device, FAULT_GPU_REPLAYS);
        return 1;
    case NVML_FIELD_ROWS_CORRECTED:
        *out = 0;
        return 1;
    case NVML_FIELD_ROWS_UNCORRECTED:
        *out = gpu->rows_remapped + nvml_struck(device, FAULT_GPU_REMAP);
        return 1;
    case NVML_FIELD_POWER_MW:
        *out = (uint64_t)gpu->power_w * 1000;
        return gpu->power_w > 0;
    case NVML_FIELD_MEMORY_CELSIUS:
        *out = gpu->temperature;
        return gpu->temperature > 0;
    default:
        return 0;
    }
}
