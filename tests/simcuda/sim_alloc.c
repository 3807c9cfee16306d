/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Allocating. As on the real driver, all of these wait for the GPU. */
#include "sim_entry.h"
#include "sim_machine.h"

static int is_refused(const struct sim_machine *machine, uint64_t bytes)
{
    for (uint32_t i = 0; i < machine->faults.count; i++) {
        const struct fault *fault = &machine->faults.list[i];

        if (fault->kind == FAULT_ALLOC_ABOVE && bytes > fault->number) {
            return 1;
        }
    }
    return 0;
}

static cu_result info(size_t *out_free, size_t *out_total)
{
    const struct CUctx_st *context = sim_current();

    if (context == NULL) {
        return CU_ERROR_INVALID_CONTEXT;
    }
    if (out_free == NULL || out_total == NULL) {
        return CU_ERROR_INVALID_VALUE;
    }
    const struct sim_gpu *gpu = &sim_machine()->gpus[context->gpu];

    *out_total = (size_t)profile_usable_bytes(gpu->profile);
    *out_free = *out_total - gpu->used_bytes;
    return CU_SUCCESS;
}

cu_result cuMemGetInfo(size_t *out_free, size_t *out_total)
{
    SIM_CALL(cuMemGetInfo, info(out_free, out_total));
}

static cu_result alloc(cu_address *out, size_t bytes)
{
    struct sim_machine *machine = sim_machine();
    struct CUctx_st *context = sim_current();

    if (context == NULL) {
        return CU_ERROR_INVALID_CONTEXT;
    }
    if (out == NULL || bytes == 0) {
        return CU_ERROR_INVALID_VALUE;
    }
    sim_drain(context);
    struct sim_gpu *gpu = &machine->gpus[context->gpu];
    const uint64_t total = profile_usable_bytes(gpu->profile);

    if (bytes > total - gpu->used_bytes || is_refused(machine, bytes)) {
        return CU_ERROR_OUT_OF_MEMORY;
    }
    const struct memory_range *range =
        memory_take(&machine->memory, MEMORY_DEVICE, bytes, context->gpu);

    if (range == NULL) {
        return CU_ERROR_OUT_OF_MEMORY;
    }
    gpu->used_bytes += bytes;
    *out = range->base;
    return CU_SUCCESS;
}

cu_result cuMemAlloc(cu_address *out, size_t bytes)
{
    SIM_CALL(cuMemAlloc, alloc(out, bytes));
}

static void drain_all(struct sim_machine *machine)
{
    for (uint32_t i = 0; i < machine->profile.count; i++) {
        sim_drain(sim_context_of(i));
    }
}

static cu_result release(cu_address address)
{
    struct sim_machine *machine = sim_machine();

    if (sim_current() == NULL) {
        return CU_ERROR_INVALID_CONTEXT;
    }
    if (address == 0) {
        return CU_SUCCESS;
    }
    struct memory_range *range =
        memory_find_base(&machine->memory, address, MEMORY_DEVICE);

    if (range == NULL) {
        range = memory_find_base(&machine->memory, address, MEMORY_MANAGED);
    }
    if (range == NULL) {
        return CU_ERROR_INVALID_VALUE;
    }
    drain_all(machine);
    if (range->kind == MEMORY_DEVICE) {
        machine->gpus[range->gpu].used_bytes -= range->bytes;
    }
    memory_drop(&machine->memory, range);
    return CU_SUCCESS;
}

cu_result cuMemFree(cu_address address)
{
    SIM_CALL(cuMemFree, release(address));
}

static cu_result host_take(void **out, size_t bytes, enum memory_kind kind)
{
    struct sim_machine *machine = sim_machine();

    if (sim_current() == NULL) {
        return CU_ERROR_INVALID_CONTEXT;
    }
    if (out == NULL || bytes == 0) {
        return CU_ERROR_INVALID_VALUE;
    }
    sim_drain(sim_current());
    if (is_refused(machine, bytes)) {
        return CU_ERROR_OUT_OF_MEMORY;
    }
    const struct memory_range *range =
        memory_take_host(&machine->memory, kind, bytes);

    if (range == NULL) {
        return CU_ERROR_OUT_OF_MEMORY;
    }
    *out = (void *)(uintptr_t)range->base;
    return CU_SUCCESS;
}

static cu_result managed(cu_address *out, size_t bytes)
{
    void *memory = NULL;
    const cu_result result =
        host_take(out == NULL ? NULL : &memory, bytes, MEMORY_MANAGED);

    if (result == CU_SUCCESS) {
        *out = (uint64_t)(uintptr_t)memory;
    }
    return result;
}

cu_result cuMemAllocManaged(cu_address *out, size_t bytes, unsigned int flags)
{
    SIM_CALL(cuMemAllocManaged, flags == 0 || flags > 2
                                    ? (cu_result)CU_ERROR_INVALID_VALUE
                                    : managed(out, bytes));
}

cu_result cuMemHostAlloc(void **out, size_t bytes, unsigned int flags)
{
    SIM_CALL(cuMemHostAlloc, flags > 7 ? (cu_result)CU_ERROR_INVALID_VALUE
                                       : host_take(out, bytes, MEMORY_PINNED));
}

static cu_result host_drop(
    void *memory, enum memory_kind kind, cu_result otherwise)
{
    struct sim_machine *machine = sim_machine();
    struct memory_range *range =
        memory_find_base(&machine->memory, (uint64_t)(uintptr_t)memory, kind);

    if (sim_current() == NULL) {
        return CU_ERROR_INVALID_CONTEXT;
    }
    if (range == NULL) {
        return otherwise;
    }
    drain_all(machine);
    memory_drop(&machine->memory, range);
    return CU_SUCCESS;
}

cu_result cuMemFreeHost(void *memory)
{
    SIM_CALL(cuMemFreeHost,
        host_drop(memory, MEMORY_PINNED, CU_ERROR_INVALID_VALUE));
}

static cu_result host_register(void *memory, size_t bytes)
{
    struct sim_machine *machine = sim_machine();
    const uint64_t base = (uint64_t)(uintptr_t)memory;

    if (sim_current() == NULL) {
        return CU_ERROR_INVALID_CONTEXT;
    }
    if (memory == NULL || bytes == 0) {
        return CU_ERROR_INVALID_VALUE;
    }
    sim_drain(sim_current());
    if (!memory_is_pageable(&machine->memory, base, bytes)) {
        return CU_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    }
    if (is_refused(machine, bytes) ||
        memory_note(&machine->memory, MEMORY_REGISTERED, base, bytes) == NULL) {
        return CU_ERROR_OUT_OF_MEMORY;
    }
    return CU_SUCCESS;
}

cu_result cuMemHostRegister(void *memory, size_t bytes, unsigned int flags)
{
    SIM_CALL(cuMemHostRegister, flags > 15 ? (cu_result)CU_ERROR_INVALID_VALUE
                                           : host_register(memory, bytes));
}

cu_result cuMemHostUnregister(void *memory)
{
    SIM_CALL(cuMemHostUnregister, host_drop(memory, MEMORY_REGISTERED,
                                      CU_ERROR_HOST_MEMORY_NOT_REGISTERED));
}

static struct memory_range *find_host(const void *memory)
{
    struct memory_range *range =
        memory_find(&sim_machine()->memory, (uint64_t)(uintptr_t)memory, 1);

    return range != NULL && (range->kind == MEMORY_PINNED ||
                                range->kind == MEMORY_REGISTERED)
               ? range
               : NULL;
}

static cu_result host_address(cu_address *out, void *memory)
{
    if (sim_current() == NULL) {
        return CU_ERROR_INVALID_CONTEXT;
    }
    if (out == NULL || find_host(memory) == NULL) {
        return CU_ERROR_INVALID_VALUE;
    }
    *out = (uint64_t)(uintptr_t)memory;
    return CU_SUCCESS;
}

cu_result cuMemHostGetDevicePointer(
    cu_address *out, void *memory, unsigned int flags)
{
    SIM_CALL(cuMemHostGetDevicePointer, flags != 0
                                            ? (cu_result)CU_ERROR_INVALID_VALUE
                                            : host_address(out, memory));
}

int nvbw_sim_place(void *memory, int node)
{
    sim_machine();
    sim_lock();
    struct memory_range *range = find_host(memory);

    if (range != NULL) {
        range->node = node;
    }
    sim_unlock();
    return range != NULL ? 0 : -1;
}
