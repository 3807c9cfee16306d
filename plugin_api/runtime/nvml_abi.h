/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The part of NVML's binary interface that is used, declared anew so that
 * nothing needs NVIDIA's headers to build. A device is a pointer to
 * NVML's own incomplete struct, a result is an nvml_result. */
#ifndef NVBW_NVML_ABI_H
#define NVBW_NVML_ABI_H

#include <stdint.h>

struct nvmlDevice_st;
struct nvmlEventSet_st;

typedef unsigned int nvml_result;

enum {
    NVML_DONE = 0,
    NVML_INVALID_ARGUMENT = 2,
    NVML_NOT_SUPPORTED = 3,
    NVML_NO_PERMISSION = 4,
    NVML_NOT_FOUND = 6,
    NVML_INSUFFICIENT_SIZE = 7,
    NVML_DRIVER_NOT_LOADED = 9,
    NVML_TIMEOUT = 10,
    NVML_FUNCTION_NOT_FOUND = 13, /* what a missing function answers */
    NVML_GPU_IS_LOST = 15,
    NVML_LIB_RM_VERSION_MISMATCH = 18
};

enum {
    NVML_TEXT_BYTES = 96,
    NVML_UUID_BYTES = 96,
    NVML_LINKS = 36,

    NVML_CLOCK_IS_SM = 1,
    NVML_CLOCK_IS_MEMORY = 2,
    NVML_ECC_CORRECTED = 0,
    NVML_ECC_UNCORRECTED = 1,
    NVML_ECC_VOLATILE = 0,
    NVML_ECC_AGGREGATE = 1,
    NVML_SENSOR_GPU = 0,
    NVML_EVENT_XID = 8,

    /* Policies of nvmlDeviceGetViolationStatus. */
    NVML_POLICY_POWER = 0,
    NVML_POLICY_THERMAL = 1,

    /* Counters of nvmlDeviceGetNvLinkErrorCounter. */
    NVML_LINK_REPLAYS = 0,
    NVML_LINK_RECOVERIES = 1,
    NVML_LINK_CRC_FLIT = 2,
    NVML_LINK_CRC_DATA = 3,

    NVML_LINK_ACTIVE = 1,
    NVML_REMOTE_GPU = 0,
    NVML_REMOTE_SWITCH = 2,
    NVML_MIG_ENABLED = 1,

    /* Levels of nvmlDeviceGetTopologyCommonAncestor. */
    NVML_PATH_INTERNAL = 0,
    NVML_PATH_SINGLE = 10,
    NVML_PATH_MULTIPLE = 20,
    NVML_PATH_HOSTBRIDGE = 30,
    NVML_PATH_NODE = 40,
    NVML_PATH_SYSTEM = 50,

    /* Fields of nvmlDeviceGetFieldValues. */
    NVML_FIELD_ECC_CORRECTED = 3, /* volatile */
    NVML_FIELD_ECC_UNCORRECTED = 4,
    NVML_FIELD_LINK_CRC_FLIT = 38, /* of all links */
    NVML_FIELD_LINK_CRC_DATA = 45,
    NVML_FIELD_LINK_REPLAYS = 52,
    NVML_FIELD_LINK_RECOVERIES = 59,
    NVML_FIELD_POWER_CAP_NS = 74,
    NVML_FIELD_MEMORY_CELSIUS = 82,
    NVML_FIELD_LINK_SPEED_MBPS = 90, /* per NVLink and direction, MB/s */
    NVML_FIELD_LINK_COUNT = 91,
    NVML_FIELD_PCIE_REPLAYS = 94,
    NVML_FIELD_ROWS_CORRECTED = 142,
    NVML_FIELD_ROWS_UNCORRECTED = 143,
    NVML_FIELD_LINK_GET_SPEED = 164, /* scope: the link */
    NVML_FIELD_C2C_LINK_COUNT = 170,
    NVML_FIELD_POWER_MW = 186, /* of the moment */
    NVML_FIELD_PCIE_OUT_BYTES = 197,
    NVML_FIELD_PCIE_IN_BYTES = 198,
    NVML_FIELD_SW_THERMAL_NS = 251,
    NVML_FIELD_HW_THERMAL_NS = 252,
    NVML_FIELD_POWER_BRAKE_NS = 253,

    /* Types of a field's value. */
    NVML_VALUE_DOUBLE = 0,
    NVML_VALUE_UINT = 1,
    NVML_VALUE_ULONG = 2,
    NVML_VALUE_ULONGLONG = 3,
    NVML_VALUE_LONGLONG = 4,
    NVML_VALUE_INT = 5,
    NVML_VALUE_USHORT = 6,

    /* State of a fabric registration. */
    NVML_FABRIC_NOT_SUPPORTED = 0,
    NVML_FABRIC_NOT_STARTED = 1,
    NVML_FABRIC_IN_PROGRESS = 2,
    NVML_FABRIC_COMPLETED = 3
};

struct nvml_pci {
    char bus_legacy[16];
    unsigned int domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};
struct nvml_memory {
    unsigned long long total, free, used;
};
struct nvml_process {
    unsigned int pid;
    unsigned long long used_bytes;
    unsigned int gpu_instance, compute_instance;
};
struct nvml_field {
    unsigned int field, scope;
    long long timestamp, latency_us;
    unsigned int value_type; /* NVML_VALUE_* */
    nvml_result result;
    union {
        double real;
        unsigned int uint;
        unsigned long ulong;
        unsigned long long ulonglong;
        long long longlong;
        int integer;
        unsigned short ushort;
    } value;
};
struct nvml_fabric {
    unsigned char cluster[16];
    nvml_result status; /* of the registration, NVML_DONE: good */
    unsigned int clique;
    unsigned char state; /* NVML_FABRIC_* */
};
struct nvml_utilisation {
    unsigned int gpu, memory; /* percent */
};
struct nvml_violation {
    unsigned long long reference_us, violation_ns;
};
struct nvml_event {
    struct nvmlDevice_st *device;
    unsigned long long type, data;
    unsigned int gpu_instance, compute_instance;
};
struct nvml_confidential {
    unsigned int environment, feature, tools_mode;
};

#define NVML_DEVICE struct nvmlDevice_st *device

/* Every function that is used: X(member, symbol, parameters). */
#define NVML_FUNCTIONS(X)                                                      \
    X(init, nvmlInit_v2, (void))                                               \
    X(driver_version, nvmlSystemGetDriverVersion,                              \
        (char *out, unsigned int size))                                        \
    X(nvml_version, nvmlSystemGetNVMLVersion, (char *out, unsigned int size))  \
    X(confidential, nvmlSystemGetConfComputeState,                             \
        (struct nvml_confidential * out))                                      \
    X(device_count, nvmlDeviceGetCount_v2, (unsigned int *out))                \
    X(device_at, nvmlDeviceGetHandleByIndex_v2,                                \
        (unsigned int index, struct nvmlDevice_st **out))                      \
    X(device_name, nvmlDeviceGetName,                                          \
        (NVML_DEVICE, char *out, unsigned int size))                           \
    X(device_uuid, nvmlDeviceGetUUID,                                          \
        (NVML_DEVICE, char *out, unsigned int size))                           \
    X(device_pci, nvmlDeviceGetPciInfo_v3,                                     \
        (NVML_DEVICE, struct nvml_pci * out))                                  \
    X(device_serial, nvmlDeviceGetSerial,                                      \
        (NVML_DEVICE, char *out, unsigned int size))                           \
    X(device_vbios, nvmlDeviceGetVbiosVersion,                                 \
        (NVML_DEVICE, char *out, unsigned int size))                           \
    X(device_board, nvmlDeviceGetBoardPartNumber,                              \
        (NVML_DEVICE, char *out, unsigned int size))                           \
    X(pcie_generation, nvmlDeviceGetCurrPcieLinkGeneration,                    \
        (NVML_DEVICE, unsigned int *out))                                      \
    X(pcie_width, nvmlDeviceGetCurrPcieLinkWidth,                              \
        (NVML_DEVICE, unsigned int *out))                                      \
    X(pcie_max_generation, nvmlDeviceGetMaxPcieLinkGeneration,                 \
        (NVML_DEVICE, unsigned int *out))                                      \
    X(pcie_max_width, nvmlDeviceGetMaxPcieLinkWidth,                           \
        (NVML_DEVICE, unsigned int *out))                                      \
    X(pcie_gpu_max_generation, nvmlDeviceGetGpuMaxPcieLinkGeneration,          \
        (NVML_DEVICE, unsigned int *out))                                      \
    X(memory, nvmlDeviceGetMemoryInfo,                                         \
        (NVML_DEVICE, struct nvml_memory * out))                               \
    X(memory_bus_bits, nvmlDeviceGetMemoryBusWidth,                            \
        (NVML_DEVICE, unsigned int *out))                                      \
    X(max_clock_mhz, nvmlDeviceGetMaxClockInfo,                                \
        (NVML_DEVICE, unsigned int clock, unsigned int *out))                  \
    X(mig_mode, nvmlDeviceGetMigMode,                                          \
        (NVML_DEVICE, unsigned int *out_now, unsigned int *out_pending))       \
    X(processes, nvmlDeviceGetComputeRunningProcesses_v3,                      \
        (NVML_DEVICE, unsigned int *count, struct nvml_process *out))          \
    X(ecc_errors, nvmlDeviceGetTotalEccErrors,                                 \
        (NVML_DEVICE, unsigned int type, unsigned int counter,                 \
            unsigned long long *out))                                          \
    X(remapped_rows, nvmlDeviceGetRemappedRows,                                \
        (NVML_DEVICE, unsigned int *out_corrected,                             \
            unsigned int *out_uncorrected, unsigned int *out_pending,          \
            unsigned int *out_failed))                                         \
    X(fabric, nvmlDeviceGetGpuFabricInfo,                                      \
        (NVML_DEVICE, struct nvml_fabric * out))                               \
    X(link_state, nvmlDeviceGetNvLinkState,                                    \
        (NVML_DEVICE, unsigned int link, unsigned int *out))                   \
    X(link_remote_type, nvmlDeviceGetNvLinkRemoteDeviceType,                   \
        (NVML_DEVICE, unsigned int link, unsigned int *out))                   \
    X(link_remote_pci, nvmlDeviceGetNvLinkRemotePciInfo_v2,                    \
        (NVML_DEVICE, unsigned int link, struct nvml_pci *out))                \
    X(fields, nvmlDeviceGetFieldValues,                                        \
        (NVML_DEVICE, int count, struct nvml_field *values))                   \
    X(clock_mhz, nvmlDeviceGetClockInfo,                                       \
        (NVML_DEVICE, unsigned int clock, unsigned int *out))                  \
    X(event_reasons, nvmlDeviceGetCurrentClocksEventReasons,                   \
        (NVML_DEVICE, unsigned long long *out))                                \
    X(throttle_reasons, nvmlDeviceGetCurrentClocksThrottleReasons,             \
        (NVML_DEVICE, unsigned long long *out))                                \
    X(violation, nvmlDeviceGetViolationStatus,                                 \
        (NVML_DEVICE, unsigned int policy, struct nvml_violation *out))        \
    X(power_mw, nvmlDeviceGetPowerUsage, (NVML_DEVICE, unsigned int *out))     \
    X(temperature, nvmlDeviceGetTemperature,                                   \
        (NVML_DEVICE, unsigned int sensor, unsigned int *out))                 \
    X(utilisation, nvmlDeviceGetUtilizationRates,                              \
        (NVML_DEVICE, struct nvml_utilisation * out))                          \
    X(pcie_replays, nvmlDeviceGetPcieReplayCounter,                            \
        (NVML_DEVICE, unsigned int *out))                                      \
    X(link_errors, nvmlDeviceGetNvLinkErrorCounter,                            \
        (NVML_DEVICE, unsigned int link, unsigned int counter,                 \
            unsigned long long *out))                                          \
    X(graphics_processes, nvmlDeviceGetGraphicsRunningProcesses_v3,            \
        (NVML_DEVICE, unsigned int *count, struct nvml_process *out))          \
    X(event_set, nvmlEventSetCreate, (struct nvmlEventSet_st * *out))          \
    X(register_events, nvmlDeviceRegisterEvents,                               \
        (NVML_DEVICE, unsigned long long types, struct nvmlEventSet_st *set))  \
    X(wait_event, nvmlEventSetWait_v2,                                         \
        (struct nvmlEventSet_st * set, struct nvml_event * out,                \
            unsigned int timeout_ms))                                          \
    X(common_ancestor, nvmlDeviceGetTopologyCommonAncestor,                    \
        (NVML_DEVICE, struct nvmlDevice_st * other, unsigned int *out))

#endif
