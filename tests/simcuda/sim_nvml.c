/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The simulated NVML: answers from the profile. */
#include "sim_nvml.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim_decline.h"
#include "sim_segment.h"
#include "sim_setup.h"

enum { NVML_UNINITIALIZED = 1 };

struct nvmlDevice_st {
    uint32_t index, declined;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct profile profile;
static struct faults faults;
static struct nvmlDevice_st *devices;
static struct segment *shared;
static uint32_t initialised;

#define CALL_NAME(member, symbol, parameters) #symbol,
static const char *const call_names[] = { NVML_FUNCTIONS(CALL_NAME) };

static void make(void)
{
    char trouble[512];

    if (setup_read(&profile, &faults, trouble, sizeof trouble) != 0) {
        profile.count = 0;
        profile.nvml = 0;
        return;
    }
    shared = segment_open();
    devices = calloc((size_t)profile.count + 1, sizeof *devices);
    if (devices == NULL) {
        profile.count = 0;
    }
    for (uint32_t i = 0; i < profile.count; i++) {
        devices[i].index = i;
    }
}

static uint64_t count_call(enum nvml_call call)
{
    return shared == NULL ? 1 : segment_count(&shared->nvml_calls[call]);
}

nvml_result nvml_enter(enum nvml_call call)
{
    pthread_once(&once, make);
    const char *name = call_names[call];
    const uint64_t number = count_call(call);

    if (faults_find(&faults, FAULT_CALL_HANG, name, number) != NULL) {
        for (;;) {
            pause();
        }
    }
    if (faults_find(&faults, FAULT_CALL_LATE, name, number) != NULL) {
        sleep(1);
    }
    if (faults_find(&faults, FAULT_CALL_KILL, name, number) != NULL) {
        raise(SIGKILL);
    }
    const struct fault *fault = faults_find(&faults, FAULT_CALL, name, number);

    if (fault != NULL) {
        return fault->value;
    }
    if (!profile.nvml) {
        return NVML_DRIVER_NOT_LOADED;
    }
    return initialised || call == CALL_nvmlInit_v2
               ? (nvml_result)NVML_DONE
               : (nvml_result)NVML_UNINITIALIZED;
}

static int is_lost(uint32_t index)
{
    if (shared != NULL &&
        __atomic_load_n(&shared->gpus[index].lost, __ATOMIC_RELAXED)) {
        return 1;
    }
    for (uint32_t i = 0; i < faults.count; i++) {
        const struct fault *fault = &faults.list[i];

        /* One that is lost later is lost by what works on it. */
        if (fault->kind == FAULT_GPU_LOST && fault->value == index &&
            fault->number <= 1) {
            return 1;
        }
    }
    return 0;
}

/* The one that is about to be made included. */
static uint64_t operations_of(uint32_t index)
{
    return 1 + (shared == NULL
                       ? 0
                       : __atomic_load_n(&shared->gpus[index].operations,
                             __ATOMIC_RELAXED));
}

uint64_t nvml_struck(const struct nvmlDevice_st *device, enum fault_kind kind)
{
    return faults_of_gpu(
        &faults, kind, device->index, operations_of(device->index));
}

nvml_result nvml_enter_device(enum nvml_call call,
    const struct nvmlDevice_st *device, const struct profile_gpu **out)
{
    const nvml_result refused = nvml_enter(call);

    if (refused != NVML_DONE) {
        return refused;
    }
    if (device < devices || device >= devices + profile.count) {
        return NVML_INVALID_ARGUMENT;
    }
    decline_gpu(&faults, device->index, operations_of(device->index),
        &devices[device->index].declined, &profile.gpus[device->index]);
    *out = &profile.gpus[device->index];
    return is_lost(device->index) ? (nvml_result)NVML_GPU_IS_LOST
                                  : (nvml_result)NVML_DONE;
}

uint64_t nvml_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

struct nvmlDevice_st *nvml_device(uint32_t index)
{
    return &devices[index];
}

const struct profile *nvml_profile(void)
{
    return &profile;
}

uint32_t nvml_index(const struct nvmlDevice_st *device)
{
    return device->index;
}

nvml_result nvml_give_text(char *out, unsigned int size, const char *text)
{
    if (out == NULL) {
        return NVML_INVALID_ARGUMENT;
    }
    if (text[0] == '\0') {
        return NVML_NOT_SUPPORTED;
    }
    if (strlen(text) >= size) {
        return NVML_INSUFFICIENT_SIZE;
    }
    snprintf(out, size, "%s", text);
    return NVML_DONE;
}

nvml_result nvmlInit_v2(void)
{
    const nvml_result refused = nvml_enter(CALL_nvmlInit_v2);

    if (refused == NVML_DONE) {
        initialised = 1;
    }
    return refused;
}

nvml_result nvmlSystemGetDriverVersion(char *out, unsigned int size)
{
    const nvml_result refused = nvml_enter(CALL_nvmlSystemGetDriverVersion);

    return refused != NVML_DONE
               ? refused
               : nvml_give_text(out, size, profile.driver_version);
}

nvml_result nvmlSystemGetNVMLVersion(char *out, unsigned int size)
{
    const nvml_result refused = nvml_enter(CALL_nvmlSystemGetNVMLVersion);
    char version[PROFILE_TEXT + 8];

    snprintf(version, sizeof version, "%u.%s", profile.cuda_version / 1000,
        profile.driver_version);
    return refused != NVML_DONE ? refused : nvml_give_text(out, size, version);
}

nvml_result nvmlSystemGetConfComputeState(struct nvml_confidential *out)
{
    const nvml_result refused = nvml_enter(CALL_nvmlSystemGetConfComputeState);

    if (refused == NVML_DONE) {
        *out = (struct nvml_confidential){ .feature = 0 };
    }
    return refused;
}

nvml_result nvmlDeviceGetCount_v2(unsigned int *out)
{
    const nvml_result refused = nvml_enter(CALL_nvmlDeviceGetCount_v2);

    if (refused == NVML_DONE) {
        *out = profile.visible;
    }
    return refused;
}

nvml_result nvmlDeviceGetHandleByIndex_v2(
    unsigned int index, struct nvmlDevice_st **out)
{
    const nvml_result refused = nvml_enter(CALL_nvmlDeviceGetHandleByIndex_v2);

    if (refused != NVML_DONE) {
        return refused;
    }
    if (index >= profile.visible || out == NULL) {
        return NVML_INVALID_ARGUMENT;
    }
    *out = &devices[index];
    return NVML_DONE;
}
