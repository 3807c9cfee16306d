/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Multicast objects: that they can be made, joined and bound. */
#include <stdlib.h>

#include "sim_entry.h"
#include "sim_machine.h"
#include "sim_vmm.h"

#define GRANULARITY (UINT64_C(2) << 20)

struct multicast {
    struct multicast *next;
    uint64_t handle, bytes;
    uint32_t devices, joined;
};

static struct multicast *objects;

static struct multicast *find(uint64_t handle)
{
    struct multicast *object = objects;

    while (object != NULL && object->handle != handle) {
        object = object->next;
    }
    return object;
}

static int is_supported(void)
{
    const struct sim_machine *machine = sim_machine();

    return machine->profile.count > 0 &&
           machine->gpus[0].profile->multicast != 0;
}

static cu_result granularity(size_t *out, const struct cu_multicast_prop *prop)
{
    if (out == NULL || prop == NULL || prop->devices == 0) {
        return CU_ERROR_INVALID_VALUE;
    }
    *out = GRANULARITY;
    return is_supported() ? (cu_result)CU_SUCCESS
                          : (cu_result)CU_ERROR_NOT_SUPPORTED;
}

cu_result cuMulticastGetGranularity(
    size_t *out, const struct cu_multicast_prop *prop, unsigned int option)
{
    SIM_CALL(cuMulticastGetGranularity, option > 1
                                            ? (cu_result)CU_ERROR_INVALID_VALUE
                                            : granularity(out, prop));
}

static cu_result create(cu_memory *out, const struct cu_multicast_prop *prop)
{
    if (!is_supported()) {
        return CU_ERROR_NOT_SUPPORTED;
    }
    if (out == NULL || prop == NULL || prop->devices == 0 || prop->size == 0 ||
        prop->size % GRANULARITY != 0) {
        return CU_ERROR_INVALID_VALUE;
    }
    struct multicast *object = calloc(1, sizeof *object);

    if (object == NULL) {
        return CU_ERROR_OUT_OF_MEMORY;
    }
    object->handle = vmm_make(prop->size, 0);
    object->bytes = prop->size;
    object->devices = prop->devices;
    object->next = objects;
    objects = object;
    *out = object->handle;
    return object->handle != 0 ? (cu_result)CU_SUCCESS
                               : (cu_result)CU_ERROR_OUT_OF_MEMORY;
}

cu_result cuMulticastCreate(
    cu_memory *out, const struct cu_multicast_prop *prop)
{
    SIM_CALL(cuMulticastCreate, create(out, prop));
}

static cu_result add(uint64_t handle, int device)
{
    struct multicast *object = find(handle);

    if (object == NULL || object->joined == object->devices) {
        return CU_ERROR_INVALID_VALUE;
    }
    if (device < 0 || (uint32_t)device >= sim_machine()->profile.count) {
        return CU_ERROR_INVALID_DEVICE;
    }
    object->joined++;
    return CU_SUCCESS;
}

cu_result cuMulticastAddDevice(cu_memory multicast, int device)
{
    SIM_CALL(cuMulticastAddDevice, add(multicast, device));
}

static cu_result bind(uint64_t handle, size_t multicast_offset, uint64_t memory,
    size_t offset, size_t bytes)
{
    const struct multicast *object = find(handle);
    const uint64_t room = vmm_bytes(memory);

    if (object == NULL || room == 0 || offset > room || bytes > room - offset ||
        multicast_offset > object->bytes ||
        bytes > object->bytes - multicast_offset) {
        return CU_ERROR_INVALID_VALUE;
    }
    return object->joined == object->devices
               ? (cu_result)CU_SUCCESS
               : (cu_result)CU_ERROR_ILLEGAL_STATE;
}

cu_result cuMulticastBindMem(cu_memory multicast, size_t multicast_offset,
    cu_memory memory, size_t offset, size_t bytes, unsigned long long flags)
{
    SIM_CALL(cuMulticastBindMem,
        flags != 0 ? (cu_result)CU_ERROR_INVALID_VALUE
                   : bind(multicast, multicast_offset, memory, offset, bytes));
}

cu_result cuMulticastUnbind(
    cu_memory multicast, int device, size_t offset, size_t bytes)
{
    (void)device;
    (void)offset;
    (void)bytes;
    SIM_CALL(cuMulticastUnbind, find(multicast) == NULL
                                    ? (cu_result)CU_ERROR_INVALID_VALUE
                                    : (cu_result)CU_SUCCESS);
}
