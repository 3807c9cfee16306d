/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Virtual memory management. An allocation is an anonymous file, so that its
 * descriptor serves other processes as the real one's does. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim_entry.h"
#include "sim_machine.h"
#include "sim_multicast.h"
#include "sim_vmm.h"

#define GRANULARITY VMM_GRANULARITY
#define FOOT_BYTES  UINT64_C(4096)
#define FOOT_MAGIC  UINT64_C(0x314d4d5653425756)

/* Stands behind the memory in the file. */
struct foot {
    uint64_t magic, bytes;
    uint64_t state_bytes; /* of a multicast object: they stand before it */
    uint64_t handle_types;
    uint32_t gpu, unused;
};

static struct vmm_memory *memories;
static uint64_t next_handle;

struct vmm_memory *vmm_find(uint64_t handle)
{
    struct vmm_memory *memory = memories;

    while (memory != NULL && memory->handle != handle) {
        memory = memory->next;
    }
    return memory;
}

static cu_result check_prop(const struct cu_allocation_prop *prop)
{
    const struct sim_machine *machine = sim_machine();

    if (prop == NULL || prop->type != CU_ALLOCATION_PINNED ||
        prop->location.type != CU_AT_DEVICE || prop->location.id < 0) {
        return CU_ERROR_INVALID_VALUE;
    }
    if ((uint32_t)prop->location.id >= machine->profile.count) {
        return CU_ERROR_INVALID_DEVICE;
    }
    return machine->gpus[prop->location.id].profile->vmm
               ? (cu_result)CU_SUCCESS
               : (cu_result)CU_ERROR_NOT_SUPPORTED;
}

static cu_result granularity(size_t *out, const struct cu_allocation_prop *prop)
{
    if (out == NULL) {
        return CU_ERROR_INVALID_VALUE;
    }
    *out = GRANULARITY;
    return check_prop(prop);
}

cu_result cuMemGetAllocationGranularity(
    size_t *out, const struct cu_allocation_prop *prop, unsigned int option)
{
    SIM_CALL(cuMemGetAllocationGranularity,
        option > 1 ? (cu_result)CU_ERROR_INVALID_VALUE
                   : granularity(out, prop));
}

/* Closes the descriptor where there is no memory. */
static struct vmm_memory *note(int descriptor, const struct foot *foot)
{
    struct vmm_memory *memory = calloc(1, sizeof *memory);

    if (memory != NULL && foot->state_bytes > 0) {
        memory->multicast = multicast_open(descriptor, foot->bytes);
        if (memory->multicast == NULL) {
            free(memory);
            memory = NULL;
        }
    }
    if (memory == NULL) {
        close(descriptor);
        return NULL;
    }
    memory->handle = ++next_handle;
    memory->bytes = foot->bytes;
    memory->handle_types = foot->handle_types;
    memory->users = 1;
    memory->descriptor = descriptor;
    memory->next = memories;
    memories = memory;
    return memory;
}

struct vmm_memory *vmm_make(
    uint64_t bytes, uint64_t state_bytes, uint32_t gpu, uint64_t handle_types)
{
    const struct foot foot = { .magic = FOOT_MAGIC,
        .bytes = bytes,
        .state_bytes = state_bytes,
        .handle_types = handle_types,
        .gpu = sim_machine()->gpus[gpu].profile->number };
    const off_t at = (off_t)(bytes + state_bytes);
    const int descriptor = memfd_create("nvbw-sim", MFD_CLOEXEC);

    if (descriptor < 0) {
        return NULL;
    }
    if (ftruncate(descriptor, at + (off_t)FOOT_BYTES) != 0 ||
        pwrite(descriptor, &foot, sizeof foot, at) != (ssize_t)sizeof foot) {
        close(descriptor);
        return NULL;
    }
    struct vmm_memory *memory = note(descriptor, &foot);

    if (memory != NULL) {
        memory->gpu = gpu;
    }
    return memory;
}

static cu_result create(
    cu_memory *out, size_t bytes, const struct cu_allocation_prop *prop)
{
    struct sim_machine *machine = sim_machine();
    const cu_result checked = check_prop(prop);

    if (checked != CU_SUCCESS) {
        return checked;
    }
    if (out == NULL || bytes == 0 || bytes % GRANULARITY != 0) {
        return CU_ERROR_INVALID_VALUE;
    }
    struct sim_gpu *gpu = &machine->gpus[prop->location.id];

    /* The attribute claims fabric handles even where no channel is there. */
    if ((prop->handle_types & CU_HANDLE_FABRIC) != 0 &&
        gpu->profile->fabric < 2) {
        return CU_ERROR_NOT_PERMITTED;
    }
    const uint64_t total = profile_usable_bytes(gpu->profile);

    if (bytes > total - gpu->used_bytes) {
        return CU_ERROR_OUT_OF_MEMORY;
    }
    struct vmm_memory *memory =
        vmm_make(bytes, 0, (uint32_t)prop->location.id, prop->handle_types);

    if (memory == NULL) {
        return CU_ERROR_OUT_OF_MEMORY;
    }
    memory->counted = 1;
    gpu->used_bytes += bytes;
    *out = memory->handle;
    return CU_SUCCESS;
}

cu_result cuMemCreate(cu_memory *out, size_t bytes,
    const struct cu_allocation_prop *prop, unsigned long long flags)
{
    SIM_CALL(cuMemCreate, flags != 0 ? (cu_result)CU_ERROR_INVALID_VALUE
                                     : create(out, bytes, prop));
}

void vmm_release(struct vmm_memory *memory)
{
    if (--memory->users > 0) {
        return;
    }
    for (struct vmm_memory **at = &memories; *at != NULL; at = &(*at)->next) {
        if (*at == memory) {
            *at = memory->next;
            break;
        }
    }
    if (memory->multicast != NULL) {
        multicast_close(memory->multicast);
    }
    if (memory->counted) {
        sim_machine()->gpus[memory->gpu].used_bytes -= memory->bytes;
    }
    close(memory->descriptor);
    free(memory);
}

static cu_result release_handle(uint64_t handle)
{
    struct vmm_memory *memory = vmm_find(handle);

    if (memory == NULL) {
        return CU_ERROR_INVALID_VALUE;
    }
    vmm_release(memory);
    return CU_SUCCESS;
}

cu_result cuMemRelease(cu_memory memory)
{
    SIM_CALL(cuMemRelease, release_handle(memory));
}

static cu_result reserve(cu_address *out, size_t bytes)
{
    if (out == NULL || bytes == 0 || bytes % GRANULARITY != 0) {
        return CU_ERROR_INVALID_VALUE;
    }
    const struct memory_range *range =
        memory_take(&sim_machine()->memory, MEMORY_RESERVED, bytes, 0);

    if (range == NULL) {
        return CU_ERROR_OUT_OF_MEMORY;
    }
    *out = range->base;
    return CU_SUCCESS;
}

cu_result cuMemAddressReserve(cu_address *out, size_t bytes, size_t alignment,
    cu_address near, unsigned long long flags)
{
    (void)near;
    SIM_CALL(cuMemAddressReserve, flags != 0 || alignment > GRANULARITY
                                      ? (cu_result)CU_ERROR_INVALID_VALUE
                                      : reserve(out, bytes));
}

static cu_result unreserve(cu_address address, size_t bytes)
{
    struct memory_map *map = &sim_machine()->memory;
    struct memory_range *range =
        memory_find_base(map, address, MEMORY_RESERVED);

    if (range == NULL || range->bytes != bytes) {
        return CU_ERROR_INVALID_VALUE;
    }
    memory_drop(map, range);
    return CU_SUCCESS;
}

cu_result cuMemAddressFree(cu_address address, size_t bytes)
{
    SIM_CALL(cuMemAddressFree, unreserve(address, bytes));
}

static cu_result map_memory(
    cu_address address, size_t bytes, size_t offset, uint64_t handle)
{
    struct memory_map *map = &sim_machine()->memory;
    struct vmm_memory *memory = vmm_find(handle);
    const struct memory_range *room = memory_find(map, address, bytes);

    if (memory == NULL || room == NULL || room->kind != MEMORY_RESERVED ||
        bytes == 0 || bytes % GRANULARITY != 0 || offset % GRANULARITY != 0 ||
        offset > memory->bytes || bytes > memory->bytes - offset) {
        return CU_ERROR_INVALID_VALUE;
    }
    if (memory->multicast != NULL &&
        !multicast_is_complete(memory->multicast)) {
        return CU_ERROR_ILLEGAL_STATE;
    }
    /* Readable and writable for the process from now on; whether a GPU may is
     * kept apart. */
    if (mmap((void *)(uintptr_t)address, bytes, PROT_READ | PROT_WRITE,
            MAP_SHARED | MAP_FIXED, memory->descriptor,
            (off_t)offset) == MAP_FAILED) {
        return CU_ERROR_OUT_OF_MEMORY;
    }
    struct memory_range *range =
        memory_note(map, MEMORY_MAPPED, address, bytes);

    if (range == NULL) {
        return CU_ERROR_OUT_OF_MEMORY;
    }
    range->allowed = calloc(MEMORY_GPUS / 64, sizeof *range->allowed);
    range->gpu = memory->gpu;
    range->handle = handle;
    range->multicast = memory->multicast;
    range->multicast_at = offset;
    memory->users++;
    return CU_SUCCESS;
}

cu_result cuMemMap(cu_address address, size_t bytes, size_t offset,
    cu_memory memory, unsigned long long flags)
{
    SIM_CALL(cuMemMap, flags != 0 ? (cu_result)CU_ERROR_INVALID_VALUE
                                  : map_memory(address, bytes, offset, memory));
}

static cu_result unmap(cu_address address, size_t bytes)
{
    struct sim_machine *machine = sim_machine();
    struct memory_range *range =
        memory_find_base(&machine->memory, address, MEMORY_MAPPED);

    if (range == NULL || range->bytes != bytes) {
        return CU_ERROR_INVALID_VALUE;
    }
    for (uint32_t i = 0; i < machine->profile.count; i++) {
        sim_drain(sim_context_of(i));
    }
    struct vmm_memory *memory = vmm_find(range->handle);

    memory_drop(&machine->memory, range);
    if (memory != NULL) {
        vmm_release(memory);
    }
    return CU_SUCCESS;
}

cu_result cuMemUnmap(cu_address address, size_t bytes)
{
    SIM_CALL(cuMemUnmap, unmap(address, bytes));
}

static cu_result allow(
    struct memory_range *range, const struct cu_access *access)
{
    const uint32_t gpu = (uint32_t)access->location.id;

    if (access->location.type != CU_AT_DEVICE ||
        gpu >= sim_machine()->profile.count || range->allowed == NULL) {
        return CU_ERROR_INVALID_VALUE;
    }
    const struct profile_gpu *from = sim_machine()->gpus[gpu].profile;

    if (range->multicast != NULL &&
        !multicast_has(range->multicast, from->number)) {
        return CU_ERROR_INVALID_DEVICE;
    }
    const struct profile_gpu *to = sim_machine()->gpus[range->gpu].profile;

    if (range->multicast == NULL && gpu != range->gpu &&
        (!from->peer || !to->peer || from->island != to->island)) {
        return CU_ERROR_INVALID_DEVICE;
    }
    const uint64_t bit = UINT64_C(1) << (gpu % 64);

    if (access->flags == CU_ACCESS_NONE) {
        range->allowed[gpu / 64] &= ~bit;
    } else {
        range->allowed[gpu / 64] |= bit;
    }
    return CU_SUCCESS;
}

static cu_result set_access(cu_address address, size_t bytes,
    const struct cu_access *access, size_t count)
{
    struct memory_range *range =
        memory_find(&sim_machine()->memory, address, bytes);

    if (range == NULL || range->kind != MEMORY_MAPPED || access == NULL) {
        return CU_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < count; i++) {
        const cu_result result = allow(range, &access[i]);

        if (result != CU_SUCCESS) {
            return result;
        }
    }
    return CU_SUCCESS;
}

cu_result cuMemSetAccess(cu_address address, size_t bytes,
    const struct cu_access *access, size_t count)
{
    SIM_CALL(cuMemSetAccess, set_access(address, bytes, access, count));
}

/* ---- Other processes ----------------------------------------------------- */

/* What a fabric handle's bytes are here. */
struct fabric_name {
    uint64_t magic;
    int64_t process;
    int32_t descriptor;
};

static cu_result export_memory(
    void *out, uint64_t handle, unsigned int handle_type)
{
    const struct vmm_memory *memory = vmm_find(handle);

    if (out == NULL || memory == NULL ||
        (memory->handle_types & handle_type) == 0) {
        return CU_ERROR_INVALID_VALUE;
    }
    if (handle_type == CU_HANDLE_DESCRIPTOR) {
        const int copy = fcntl(memory->descriptor, F_DUPFD_CLOEXEC, 0);

        memcpy(out, &copy, sizeof copy);
        return copy < 0 ? (cu_result)CU_ERROR_OPERATING_SYSTEM
                        : (cu_result)CU_SUCCESS;
    }
    if (handle_type != CU_HANDLE_FABRIC ||
        sim_machine()->gpus[memory->gpu].profile->fabric < 2) {
        return CU_ERROR_NOT_SUPPORTED;
    }
    const struct fabric_name name = { .magic = FOOT_MAGIC,
        .process = getpid(),
        .descriptor = memory->descriptor };

    memset(out, 0, sizeof(struct cu_fabric_handle));
    memcpy(out, &name, sizeof name);
    return CU_SUCCESS;
}

cu_result cuMemExportToShareableHandle(void *out, cu_memory memory,
    unsigned int handle_type, unsigned long long flags)
{
    SIM_CALL(cuMemExportToShareableHandle,
        flags != 0 ? (cu_result)CU_ERROR_INVALID_VALUE
                   : export_memory(out, memory, handle_type));
}

static int open_fabric(const void *handle)
{
    struct fabric_name name;
    char path[64];

    memcpy(&name, handle, sizeof name);
    if (name.magic != FOOT_MAGIC) {
        return -1;
    }
    snprintf(path, sizeof path, "/proc/%lld/fd/%d", (long long)name.process,
        name.descriptor);
    return open(path, O_RDWR | O_CLOEXEC);
}

static int open_handle(void *handle, unsigned int handle_type)
{
    if (handle_type == CU_HANDLE_DESCRIPTOR) {
        return fcntl((int)(intptr_t)handle, F_DUPFD_CLOEXEC, 0);
    }
    return handle_type == CU_HANDLE_FABRIC && handle != NULL
               ? open_fabric(handle)
               : -1;
}

/* The position of the GPU with this number, or the count of all. */
static uint32_t find_gpu(uint32_t number)
{
    const struct sim_machine *const machine = sim_machine();
    uint32_t i = 0;

    while (i < machine->profile.count &&
           machine->gpus[i].profile->number != number) {
        i++;
    }
    return i;
}

static cu_result import_memory(
    cu_memory *out, void *handle, unsigned int handle_type)
{
    struct foot foot = { .magic = 0 };
    struct stat about;

    if (out == NULL) {
        return CU_ERROR_INVALID_VALUE;
    }
    const int descriptor = open_handle(handle, handle_type);

    if (descriptor < 0) {
        return CU_ERROR_INVALID_VALUE;
    }
    if (fstat(descriptor, &about) != 0 || about.st_size < (off_t)FOOT_BYTES ||
        pread(descriptor, &foot, sizeof foot,
            about.st_size - (off_t)FOOT_BYTES) != (ssize_t)sizeof foot ||
        foot.magic != FOOT_MAGIC ||
        find_gpu(foot.gpu) >= sim_machine()->profile.count) {
        close(descriptor);
        return CU_ERROR_INVALID_VALUE;
    }
    struct vmm_memory *memory = note(descriptor, &foot);

    if (memory == NULL) {
        return CU_ERROR_OUT_OF_MEMORY;
    }
    memory->gpu = find_gpu(foot.gpu);
    *out = memory->handle;
    return CU_SUCCESS;
}

cu_result cuMemImportFromShareableHandle(
    cu_memory *out, void *handle, unsigned int handle_type)
{
    SIM_CALL(cuMemImportFromShareableHandle,
        import_memory(out, handle, handle_type));
}
