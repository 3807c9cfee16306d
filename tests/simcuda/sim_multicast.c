/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "sim_multicast.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim_entry.h"
#include "sim_machine.h"
#include "sim_vmm.h"

enum { TEAM_MOST = 512, PAGE = 4096 };

/* One GPU and what it has bound. */
struct member {
    uint64_t process, descriptor; /* whose file the memory is */
    uint64_t at, offset, bytes;   /* in the object, in the memory */
    uint32_t gpu;                 /* its number */
    uint32_t bound;
    uint32_t turn; /* raised with each binding */
    uint32_t ready;
};

struct state {
    uint32_t devices, taken;
    struct member members[TEAM_MOST];
};

/* A member's memory as this process has mapped it. */
struct view {
    unsigned char *memory;
    uint64_t bytes;
    uint32_t turn;
};

struct multicast {
    struct state *state;
    struct view views[TEAM_MOST];
    struct vmm_memory *own[TEAM_MOST]; /* bound by this process */
};

uint64_t multicast_state_bytes(void)
{
    return (sizeof(struct state) + PAGE - 1) / PAGE * PAGE;
}

struct multicast *multicast_open(int descriptor, uint64_t at)
{
    struct multicast *multicast = calloc(1, sizeof *multicast);

    if (multicast == NULL) {
        return NULL;
    }
    multicast->state = mmap(NULL, multicast_state_bytes(),
        PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, (off_t)at);
    if (multicast->state == MAP_FAILED) {
        free(multicast);
        return NULL;
    }
    return multicast;
}

static void forget_view(struct view *view)
{
    if (view->memory != NULL) {
        munmap(view->memory, view->bytes);
    }
    *view = (struct view){ .memory = NULL };
}

static void unbind_member(struct multicast *multicast, uint32_t number)
{
    struct vmm_memory *const memory = multicast->own[number];

    if (memory != NULL) {
        __atomic_store_n(
            &multicast->state->members[number].bound, 0, __ATOMIC_RELEASE);
        multicast->own[number] = NULL;
        vmm_release(memory);
    }
}

void multicast_close(struct multicast *multicast)
{
    for (uint32_t i = 0; i < TEAM_MOST; i++) {
        unbind_member(multicast, i);
        forget_view(&multicast->views[i]);
    }
    munmap(multicast->state, multicast_state_bytes());
    free(multicast);
}

uint32_t multicast_members(const struct multicast *multicast)
{
    const uint32_t taken =
        __atomic_load_n(&multicast->state->taken, __ATOMIC_ACQUIRE);
    uint32_t ready = 0;

    while (ready < taken && ready < TEAM_MOST &&
           __atomic_load_n(&multicast->state->members[ready].ready,
               __ATOMIC_ACQUIRE) != 0) {
        ready++;
    }
    return ready;
}

uint32_t multicast_gpu(const struct multicast *multicast, uint32_t member)
{
    return multicast->state->members[member].gpu;
}

int multicast_is_complete(const struct multicast *multicast)
{
    return multicast_members(multicast) == multicast->state->devices;
}

static int32_t find_member(const struct multicast *multicast, uint32_t gpu)
{
    const uint32_t count = multicast_members(multicast);

    for (uint32_t i = 0; i < count; i++) {
        if (multicast->state->members[i].gpu == gpu) {
            return (int32_t)i;
        }
    }
    return -1;
}

int multicast_has(const struct multicast *multicast, uint32_t gpu_number)
{
    return find_member(multicast, gpu_number) >= 0;
}

static void map_view(const struct member *member, struct view *view)
{
    char path[64];

    forget_view(view);
    snprintf(path, sizeof path, "/proc/%llu/fd/%llu",
        (unsigned long long)member->process,
        (unsigned long long)member->descriptor);

    const int descriptor = open(path, O_RDWR | O_CLOEXEC);

    if (descriptor < 0) {
        return;
    }
    void *const memory = mmap(NULL, member->bytes, PROT_READ | PROT_WRITE,
        MAP_SHARED, descriptor, (off_t)member->offset);

    close(descriptor);
    if (memory != MAP_FAILED) {
        *view = (struct view){ memory, member->bytes, member->turn };
    }
}

unsigned char *multicast_part(
    struct multicast *multicast, uint32_t member, uint64_t at, uint64_t bytes)
{
    const struct member *const of = &multicast->state->members[member];
    struct view *const view = &multicast->views[member];

    if (__atomic_load_n(&of->bound, __ATOMIC_ACQUIRE) == 0 || at < of->at ||
        at - of->at > of->bytes || bytes > of->bytes - (at - of->at)) {
        return NULL;
    }
    if (view->memory == NULL || view->turn != of->turn) {
        map_view(of, view);
    }
    return view->memory == NULL ? NULL : view->memory + (at - of->at);
}

/* ---- Calls --------------------------------------------------------------- */

static struct vmm_memory *find(uint64_t handle)
{
    struct vmm_memory *const memory = vmm_find(handle);

    return memory == NULL || memory->multicast == NULL ? NULL : memory;
}

static int can(uint32_t gpu)
{
    return sim_machine()->gpus[gpu].profile->multicast != 0;
}

static int is_whole(uint64_t bytes)
{
    return bytes % VMM_GRANULARITY == 0;
}

static cu_result check_prop(const struct cu_multicast_prop *prop)
{
    const uint64_t known = CU_HANDLE_DESCRIPTOR | CU_HANDLE_FABRIC;

    if (sim_machine()->profile.count == 0 || !can(0)) {
        return CU_ERROR_NOT_SUPPORTED;
    }
    return prop == NULL || prop->devices == 0 || prop->devices > TEAM_MOST ||
                   prop->flags != 0 || (prop->handle_types & ~known) != 0
               ? (cu_result)CU_ERROR_INVALID_VALUE
               : (cu_result)CU_SUCCESS;
}

static cu_result granularity(size_t *out, const struct cu_multicast_prop *prop)
{
    if (out == NULL) {
        return CU_ERROR_INVALID_VALUE;
    }
    *out = VMM_GRANULARITY;
    return check_prop(prop);
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
    const cu_result checked = check_prop(prop);

    if (checked != CU_SUCCESS) {
        return checked;
    }
    if (out == NULL || prop->size == 0 || !is_whole(prop->size)) {
        return CU_ERROR_INVALID_VALUE;
    }
    if ((prop->handle_types & CU_HANDLE_FABRIC) != 0 &&
        sim_machine()->gpus[0].profile->fabric < 2) {
        return CU_ERROR_NOT_PERMITTED;
    }

    struct vmm_memory *const object =
        vmm_make(prop->size, multicast_state_bytes(), 0, prop->handle_types);

    if (object == NULL) {
        return CU_ERROR_OUT_OF_MEMORY;
    }
    object->multicast->state->devices = prop->devices;
    *out = object->handle;
    return CU_SUCCESS;
}

cu_result cuMulticastCreate(
    cu_memory *out, const struct cu_multicast_prop *prop)
{
    SIM_CALL(cuMulticastCreate, create(out, prop));
}

static cu_result add(uint64_t handle, int device)
{
    const struct vmm_memory *const object = find(handle);
    const struct sim_machine *const machine = sim_machine();

    if (object == NULL) {
        return CU_ERROR_INVALID_VALUE;
    }
    if (device < 0 || (uint32_t)device >= machine->profile.count) {
        return CU_ERROR_INVALID_DEVICE;
    }
    if (!can((uint32_t)device)) {
        return CU_ERROR_NOT_SUPPORTED;
    }

    struct state *const state = object->multicast->state;
    const uint32_t gpu = machine->gpus[device].profile->number;

    if (find_member(object->multicast, gpu) >= 0) {
        return CU_ERROR_INVALID_VALUE;
    }

    const uint32_t number =
        __atomic_fetch_add(&state->taken, 1, __ATOMIC_ACQ_REL);

    if (number >= state->devices) {
        __atomic_fetch_sub(&state->taken, 1, __ATOMIC_ACQ_REL);
        return CU_ERROR_INVALID_VALUE;
    }
    state->members[number].gpu = gpu;
    __atomic_store_n(&state->members[number].ready, 1, __ATOMIC_RELEASE);
    return CU_SUCCESS;
}

cu_result cuMulticastAddDevice(cu_memory multicast, int device)
{
    SIM_CALL(cuMulticastAddDevice, add(multicast, device));
}

/* What is to be bound where. */
struct binding {
    uint64_t at, offset, bytes;
};

static int fits(const struct binding *binding, const struct vmm_memory *object,
    const struct vmm_memory *memory)
{
    return binding->bytes > 0 && is_whole(binding->bytes) &&
           is_whole(binding->at) && is_whole(binding->offset) &&
           binding->offset <= memory->bytes &&
           binding->bytes <= memory->bytes - binding->offset &&
           binding->at <= object->bytes &&
           binding->bytes <= object->bytes - binding->at;
}

/* Objects that others may have want memory that others may have. */
static int is_open(
    const struct vmm_memory *object, const struct vmm_memory *memory)
{
    return object->handle_types == 0 || memory->handle_types != 0;
}

static cu_result bind(
    uint64_t handle, uint64_t memory_handle, const struct binding *binding)
{
    struct vmm_memory *const object = find(handle);
    struct vmm_memory *const memory = vmm_find(memory_handle);

    if (object == NULL || memory == NULL || memory->multicast != NULL ||
        !fits(binding, object, memory) || !is_open(object, memory)) {
        return CU_ERROR_INVALID_VALUE;
    }
    if (!multicast_is_complete(object->multicast)) {
        return CU_ERROR_ILLEGAL_STATE;
    }

    const int32_t number = find_member(
        object->multicast, sim_machine()->gpus[memory->gpu].profile->number);

    if (number < 0) {
        return CU_ERROR_INVALID_DEVICE;
    }

    struct member *const member = &object->multicast->state->members[number];

    if (member->bound) {
        return CU_ERROR_INVALID_VALUE;
    }
    member->process = (uint64_t)getpid();
    member->descriptor = (uint64_t)memory->descriptor;
    member->at = binding->at;
    member->offset = binding->offset;
    member->bytes = binding->bytes;
    member->turn++;
    memory->users++;
    object->multicast->own[number] = memory;
    __atomic_store_n(&member->bound, 1, __ATOMIC_RELEASE);
    return CU_SUCCESS;
}

cu_result cuMulticastBindMem(cu_memory multicast, size_t multicast_offset,
    cu_memory memory, size_t offset, size_t bytes, unsigned long long flags)
{
    const struct binding binding = { multicast_offset, offset, bytes };

    SIM_CALL(cuMulticastBindMem, flags != 0
                                     ? (cu_result)CU_ERROR_INVALID_VALUE
                                     : bind(multicast, memory, &binding));
}

static cu_result unbind(
    uint64_t handle, int device, uint64_t at, uint64_t bytes)
{
    const struct vmm_memory *const object = find(handle);
    const struct sim_machine *const machine = sim_machine();

    if (object == NULL || !is_whole(at) || !is_whole(bytes)) {
        return CU_ERROR_INVALID_VALUE;
    }
    if (device < 0 || (uint32_t)device >= machine->profile.count) {
        return CU_ERROR_INVALID_DEVICE;
    }

    const int32_t number =
        find_member(object->multicast, machine->gpus[device].profile->number);

    if (number < 0) {
        return CU_ERROR_INVALID_DEVICE;
    }

    const struct member *const member =
        &object->multicast->state->members[number];

    if (object->multicast->own[number] == NULL || member->at != at ||
        member->bytes != bytes) {
        return CU_ERROR_INVALID_VALUE;
    }
    sim_drain(sim_context_of((uint32_t)device));
    unbind_member(object->multicast, (uint32_t)number);
    return CU_SUCCESS;
}

cu_result cuMulticastUnbind(
    cu_memory multicast, int device, size_t offset, size_t bytes)
{
    SIM_CALL(cuMulticastUnbind, unbind(multicast, device, offset, bytes));
}
