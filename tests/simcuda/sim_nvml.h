/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What the files of libnvml_sim.so share. */
#ifndef SIM_NVML_H
#define SIM_NVML_H

#include "nvml_abi.h"
#include "sim_faults.h"
#include "sim_profile.h"

#define SIM_EXPORT __attribute__((visibility("default")))

#define NVML_DECLARE(member, symbol, parameters)                               \
    SIM_EXPORT nvml_result symbol parameters;
NVML_FUNCTIONS(NVML_DECLARE)

/* The name of a function of the list that this library lacks, or NULL. */
SIM_EXPORT const char *nvbw_nvml_sim_lacks(void);

/* Functions by number. */
#define NVML_CALL_ENUM(member, symbol, parameters) CALL_##symbol,
enum nvml_call { NVML_FUNCTIONS(NVML_CALL_ENUM) NVML_CALLS_END };

/* Whether a call is refused: by a fault, or because nvmlInit is missing. */
nvml_result nvml_enter(enum nvml_call call);
/* The same for a call about a device; fills in what the profile says. */
nvml_result nvml_enter_device(enum nvml_call call,
    const struct nvmlDevice_st *device, const struct profile_gpu **out);
/* How many of its operations a fault of this kind has struck, 0: none yet. */
uint64_t nvml_struck(const struct nvmlDevice_st *device, enum fault_kind kind);
/* CLOCK_MONOTONIC: whoever reads counters of time divides them by real time,
 * and the virtual seconds of the machine cost none. */
uint64_t nvml_now_ns(void);
struct nvmlDevice_st *nvml_device(uint32_t index);
/* A field of sim_nvml_watch.c: 1 and its value, or 0. */
int nvml_watch_field(const struct nvmlDevice_st *device,
    const struct profile_gpu *gpu, unsigned int field, uint64_t *out);
const struct profile *nvml_profile(void);
uint32_t nvml_index(const struct nvmlDevice_st *device);
nvml_result nvml_give_text(char *out, unsigned int size, const char *text);
void nvml_give_pci(const char *address, struct nvml_pci *out);

#endif
