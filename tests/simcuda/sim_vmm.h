/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Allocations with handles. A multicast object is one too: what handles are
 * for, and how they get to other processes, is the same for both. */
#ifndef SIM_VMM_H
#define SIM_VMM_H

#include <stdint.h>

struct multicast;

#define VMM_GRANULARITY (UINT64_C(2) << 20)

struct vmm_memory {
    struct vmm_memory *next;
    uint64_t handle, bytes, handle_types;
    uint32_t gpu;
    uint32_t users;   /* handle, mappings, and objects that it is bound to */
    uint32_t counted; /* 1: among what the GPU has in use */
    int descriptor;
    struct multicast *multicast; /* of a multicast object, else NULL */
};

/* NULL: there is none with this handle. */
struct vmm_memory *vmm_find(uint64_t handle);
/* A file of so many bytes, behind which state_bytes have room for what is to
 * be known of a multicast object; 0: it is memory. NULL: no room. */
struct vmm_memory *vmm_make(
    uint64_t bytes, uint64_t state_bytes, uint32_t gpu, uint64_t handle_types);
/* One user less; the last one frees it. */
void vmm_release(struct vmm_memory *memory);

#endif
