/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What multicast objects need to know of allocations. */
#ifndef SIM_VMM_H
#define SIM_VMM_H

#include <stdint.h>

/* 0: no such allocation. */
uint64_t vmm_bytes(uint64_t handle);
/* A new allocation's handle, 0: no memory. */
uint64_t vmm_make(uint64_t bytes, uint32_t gpu);

#endif
