/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What libcuda_sim.so exports: the functions of cuda_abi.h's list, the two
 * ways to ask for them, and what only a simulated driver has. */
#ifndef SIM_ENTRY_H
#define SIM_ENTRY_H

#include "cuda_abi.h"

#define SIM_EXPORT __attribute__((visibility("default")))

#define SIM_DECLARE(member, symbol, version, parameters)                       \
    SIM_EXPORT cu_result symbol parameters;
CUDA_FUNCTIONS(SIM_DECLARE)

SIM_EXPORT cu_result cuGetProcAddress_v2(const char *symbol, void **out,
    int version, uint64_t flags, unsigned int *out_found);
SIM_EXPORT cu_result cuGetProcAddress(
    const char *symbol, void **out, int version, uint64_t flags);

/* The virtual clock. Each call goes on to the next moment at which something
 * ends, or by a small step where nothing is in progress. */
SIM_EXPORT uint64_t nvbw_sim_now_ns(void);
/* The profile's name. */
SIM_EXPORT const char *nvbw_sim_announce(void);
SIM_EXPORT const char *nvbw_sim_host(void);
/* What a real system tells of by its files: "off", "passthrough" or
 * "translated"; 1: bridges above the device redirect peers to the root, 0, -1
 * for a device that is not there. */
SIM_EXPORT const char *nvbw_sim_iommu(void);
SIM_EXPORT int nvbw_sim_acs_redirect(int device);
/* Why there is no simulated machine, or "". */
SIM_EXPORT const char *nvbw_sim_trouble(void);
/* The name of a function of the list that this library lacks, or NULL: all are
 * there. */
SIM_EXPORT const char *nvbw_sim_lacks(void);
/* Says on which simulated NUMA node pinned or registered memory lies; 0, or
 * -1 for memory that is not known. */
SIM_EXPORT int nvbw_sim_place(void *memory, int node);

#endif
