/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Devices and what is asked about them. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_entry.h"
#include "sim_machine.h"

static struct profile_gpu *find(int device)
{
    struct sim_machine *machine = sim_machine();

    return device < 0 || (uint32_t)device >= machine->profile.count
               ? NULL
               : machine->gpus[device].profile;
}

static cu_result init(unsigned int flags)
{
    struct sim_machine *machine = sim_machine();

    if (flags != 0) {
        return CU_ERROR_INVALID_VALUE;
    }
    if (machine->trouble[0] != '\0') {
        return CU_ERROR_OPERATING_SYSTEM;
    }
    if (machine->profile.count == 0) {
        return CU_ERROR_NO_DEVICE;
    }
    machine->initialised = 1;
    return CU_SUCCESS;
}

cu_result cuInit(unsigned int flags)
{
    SIM_CALL(cuInit, init(flags));
}

static cu_result version(int *out)
{
    if (out == NULL) {
        return CU_ERROR_INVALID_VALUE;
    }
    *out = (int)sim_machine()->profile.cuda_version;
    return CU_SUCCESS;
}

cu_result cuDriverGetVersion(int *out)
{
    SIM_CALL(cuDriverGetVersion, version(out));
}

static cu_result count(int *out)
{
    if (out == NULL) {
        return CU_ERROR_INVALID_VALUE;
    }
    *out = (int)sim_machine()->profile.visible;
    return CU_SUCCESS;
}

cu_result cuDeviceGetCount(int *out)
{
    SIM_CALL(cuDeviceGetCount, count(out));
}

static cu_result get(int *out, int ordinal)
{
    if (out == NULL) {
        return CU_ERROR_INVALID_VALUE;
    }
    if (find(ordinal) == NULL) {
        return CU_ERROR_INVALID_DEVICE;
    }
    *out = ordinal;
    return CU_SUCCESS;
}

cu_result cuDeviceGet(int *out, int ordinal)
{
    SIM_CALL(cuDeviceGet, get(out, ordinal));
}

static cu_result give_text(char *out, int size, const char *text)
{
    if (out == NULL || size <= 0) {
        return CU_ERROR_INVALID_VALUE;
    }
    snprintf(out, (size_t)size, "%s", text);
    return CU_SUCCESS;
}

static cu_result name(char *out, int size, int device)
{
    const struct profile_gpu *gpu = find(device);

    return gpu == NULL ? (cu_result)CU_ERROR_INVALID_DEVICE
                       : give_text(out, size, gpu->model);
}

cu_result cuDeviceGetName(char *out, int size, int device)
{
    SIM_CALL(cuDeviceGetName, name(out, size, device));
}

/* The driver writes domains with four digits, NVML with eight. */
static cu_result pci(char *out, int size, int device)
{
    const struct profile_gpu *gpu = find(device);

    if (gpu == NULL) {
        return CU_ERROR_INVALID_DEVICE;
    }
    const size_t colon = strcspn(gpu->pci, ":");

    return give_text(out, size, gpu->pci + (colon > 4 ? colon - 4 : 0));
}

cu_result cuDeviceGetPCIBusId(char *out, int size, int device)
{
    SIM_CALL(cuDeviceGetPCIBusId, pci(out, size, device));
}

static int hex_value(char digit)
{
    return isdigit((unsigned char)digit)
               ? digit - '0'
               : (tolower((unsigned char)digit) - 'a' + 10) & 15;
}

static cu_result uuid(struct cu_uuid *out, int device)
{
    const struct profile_gpu *gpu = find(device);

    if (out == NULL) {
        return CU_ERROR_INVALID_VALUE;
    }
    if (gpu == NULL) {
        return CU_ERROR_INVALID_DEVICE;
    }
    const char *dash = strchr(gpu->uuid, '-');
    uint32_t nibble = 0;

    memset(out, 0, sizeof *out);
    for (const char *at = dash == NULL ? gpu->uuid : dash + 1;
         *at != '\0' && nibble < 2 * sizeof out->bytes; at++) {
        if (*at != '-') {
            const int value = hex_value(*at) << (nibble % 2 == 0 ? 4 : 0);

            out->bytes[nibble / 2] = (char)(out->bytes[nibble / 2] | value);
            nibble++;
        }
    }
    return CU_SUCCESS;
}

cu_result cuDeviceGetUuid(struct cu_uuid *out, int device)
{
    SIM_CALL(cuDeviceGetUuid, uuid(out, device));
}

static cu_result total_memory(size_t *out, int device)
{
    const struct profile_gpu *gpu = find(device);

    if (out == NULL) {
        return CU_ERROR_INVALID_VALUE;
    }
    if (gpu == NULL) {
        return CU_ERROR_INVALID_DEVICE;
    }
    *out = (size_t)profile_usable_bytes(gpu);
    return CU_SUCCESS;
}

cu_result cuDeviceTotalMem(size_t *out, int device)
{
    SIM_CALL(cuDeviceTotalMem, total_memory(out, device));
}

/* ---- Attributes ---------------------------------------------------------- */

enum {
    CONSTANT = 0,
    BLOCKS_PER_SM = 32,
    THREADS_PER_SM = 2048,
    SHARED_DEFAULT = 48 << 10,
    SHARED_RESERVED = 1 << 10
};

/* value = member * scale, or scale alone where there is no member. */
struct attribute_row {
    unsigned int attribute;
    size_t offset;
    int scale, divisor;
};

#define CONST(name, value)                                                     \
    {                                                                          \
        CU_ATTR_##name, SIZE_MAX, (value), 1                                   \
    }
#define FIELD(name, member, times, over)                                       \
    {                                                                          \
        CU_ATTR_##name, offsetof(struct profile_gpu, member), (times), (over)  \
    }

static const struct attribute_row attributes[] = {
    CONST(MAX_SHARED_MEMORY_PER_BLOCK, SHARED_DEFAULT),
    FIELD(CLOCK_RATE, sm_clock_mhz, 1000, 1),
    FIELD(MULTIPROCESSOR_COUNT, units, 1, 1),
    FIELD(KERNEL_EXEC_TIMEOUT, watchdog, 1, 1),
    FIELD(INTEGRATED, coherent, 0, 1),
    CONST(CAN_MAP_HOST_MEMORY, 1),
    CONST(COMPUTE_MODE, 0),
    CONST(ECC_ENABLED, 1),
    FIELD(MEMORY_CLOCK_RATE, memory_clock_mhz, 1000, 1),
    FIELD(GLOBAL_MEMORY_BUS_WIDTH, memory_bus_bits, 1, 1),
    FIELD(L2_CACHE_SIZE, l2_kib, 1024, 1),
    CONST(MAX_THREADS_PER_MULTIPROCESSOR, THREADS_PER_SM),
    CONST(ASYNC_ENGINE_COUNT, 3),
    CONST(UNIFIED_ADDRESSING, 1),
    FIELD(COMPUTE_CAPABILITY_MAJOR, compute, 1, 10),
    FIELD(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, shared_kib, 1024, 1),
    CONST(MANAGED_MEMORY, 1),
    FIELD(PAGEABLE_MEMORY_ACCESS, coherent, 1, 1),
    CONST(CONCURRENT_MANAGED_ACCESS, 1),
    CONST(HOST_REGISTER_SUPPORTED, 1),
    FIELD(PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, coherent, 1, 1),
    FIELD(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, vmm, 1, 1),
    FIELD(HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, vmm, 1, 1),
    CONST(MAX_BLOCKS_PER_MULTIPROCESSOR, BLOCKS_PER_SM),
    CONST(GPU_DIRECT_RDMA_SUPPORTED, 1),
    CONST(NUMA_CONFIG, 0),
    CONST(NUMA_ID, -1),
    FIELD(MULTICAST_SUPPORTED, multicast, 1, 1),
    FIELD(HOST_NUMA_ID, node, 1, 1),
};

static int attribute_value(
    const struct profile_gpu *gpu, const struct attribute_row *row)
{
    uint32_t member = 0;

    if (row->offset == SIZE_MAX) {
        return row->scale;
    }
    memcpy(&member, (const char *)gpu + row->offset, sizeof member);
    return (int)member * row->scale / row->divisor;
}

/* What is read out of the PCI address, or computed. */
static int special_value(
    const struct profile_gpu *gpu, unsigned int attribute, int *out)
{
    char *end = NULL;
    const long domain = strtol(gpu->pci, &end, 16);
    const long bus = strtol(end + 1, &end, 16);
    const long slot = strtol(end + 1, NULL, 16);

    switch (attribute) {
    case CU_ATTR_PCI_DOMAIN_ID:
        *out = (int)domain;
        return 1;
    case CU_ATTR_PCI_BUS_ID:
        *out = (int)bus;
        return 1;
    case CU_ATTR_PCI_DEVICE_ID:
        *out = (int)slot;
        return 1;
    case CU_ATTR_HANDLE_TYPE_FABRIC_SUPPORTED:
        *out = gpu->fabric > 0; /* also where handles are then refused */
        return 1;
    case CU_ATTR_COMPUTE_CAPABILITY_MINOR:
        *out = (int)(gpu->compute % 10);
        return 1;
    case CU_ATTR_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        *out = (int)(gpu->shared_kib << 10) - SHARED_RESERVED;
        return 1;
    default:
        return 0;
    }
}

static cu_result attribute(int *out, unsigned int number, int device)
{
    const struct profile_gpu *gpu = find(device);

    if (out == NULL) {
        return CU_ERROR_INVALID_VALUE;
    }
    if (gpu == NULL) {
        return CU_ERROR_INVALID_DEVICE;
    }
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        if (attributes[i].attribute == number) {
            *out = attribute_value(gpu, &attributes[i]);
            return CU_SUCCESS;
        }
    }
    return special_value(gpu, number, out) ? (cu_result)CU_SUCCESS
                                           : (cu_result)CU_ERROR_INVALID_VALUE;
}

cu_result cuDeviceGetAttribute(int *out, unsigned int number, int device)
{
    SIM_CALL(cuDeviceGetAttribute, attribute(out, number, device));
}

/* ---- Peers --------------------------------------------------------------- */

static int reaches(int device, int peer)
{
    const struct profile_gpu *a = find(device);
    const struct profile_gpu *b = find(peer);

    return device != peer && a->peer && b->peer && a->island == b->island &&
           !a->mig && !b->mig;
}

static cu_result can_access(int *out, int device, int peer)
{
    if (out == NULL) {
        return CU_ERROR_INVALID_VALUE;
    }
    if (find(device) == NULL || find(peer) == NULL) {
        return CU_ERROR_INVALID_DEVICE;
    }
    *out = reaches(device, peer);
    return CU_SUCCESS;
}

cu_result cuDeviceCanAccessPeer(int *out, int device, int peer)
{
    SIM_CALL(cuDeviceCanAccessPeer, can_access(out, device, peer));
}

static cu_result p2p_attribute(int *out, unsigned int number, int from, int to)
{
    if (out == NULL || from == to) {
        return CU_ERROR_INVALID_VALUE;
    }
    if (find(from) == NULL || find(to) == NULL) {
        return CU_ERROR_INVALID_DEVICE;
    }
    const int nvlink =
        find(from)->nvlink.active > 0 && find(to)->nvlink.active > 0;

    *out = number == CU_P2P_PERFORMANCE_RANK ? !nvlink : reaches(from, to);
    return CU_SUCCESS;
}

cu_result cuDeviceGetP2PAttribute(
    int *out, unsigned int number, int from, int to)
{
    SIM_CALL(cuDeviceGetP2PAttribute, p2p_attribute(out, number, from, to));
}

static cu_result enable(struct CUctx_st *peer, unsigned int flags)
{
    struct CUctx_st *own = sim_current();

    if (own == NULL || peer == NULL) {
        return CU_ERROR_INVALID_CONTEXT;
    }
    if (flags != 0) {
        return CU_ERROR_INVALID_VALUE;
    }
    if (!reaches((int)own->gpu, (int)peer->gpu)) {
        return CU_ERROR_PEER_ACCESS_UNSUPPORTED;
    }
    uint64_t *const word = &own->peers[peer->gpu / 64];
    const uint64_t bit = UINT64_C(1) << (peer->gpu % 64);

    if ((*word & bit) != 0) {
        return CU_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    }
    *word |= bit;
    return CU_SUCCESS;
}

cu_result cuCtxEnablePeerAccess(struct CUctx_st *peer, unsigned int flags)
{
    SIM_CALL(cuCtxEnablePeerAccess, enable(peer, flags));
}

static cu_result disable(struct CUctx_st *peer)
{
    struct CUctx_st *own = sim_current();

    if (own == NULL || peer == NULL) {
        return CU_ERROR_INVALID_CONTEXT;
    }
    uint64_t *const word = &own->peers[peer->gpu / 64];
    const uint64_t bit = UINT64_C(1) << (peer->gpu % 64);

    if ((*word & bit) == 0) {
        return CU_ERROR_PEER_ACCESS_NOT_ENABLED;
    }
    sim_drain(own);
    *word &= ~bit;
    return CU_SUCCESS;
}

cu_result cuCtxDisablePeerAccess(struct CUctx_st *peer)
{
    SIM_CALL(cuCtxDisablePeerAccess, disable(peer));
}
