/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Shapes: which kernel of the SM initiator carries a flow out, on how many
 * blocks. Pure. */
#ifndef NVBW_SM_SHAPE_H
#define NVBW_SM_SHAPE_H

#include <stdint.h>

#include "record.h"

struct facts;

/* What the bytes cross: what they cross decides how many must be under way. */
enum sm_path { SM_LOCAL, SM_PEER, SM_HOST };
enum sm_path sm_path_of(
    const struct facts *facts, const struct flow_record *flow);

/* SM_KERNEL_*. sharing: flows of the initiator on that GPU at once, this one
 * included. */
uint32_t sm_kernel_of(uint32_t initiator, uint32_t operation, enum sm_path path,
    uint32_t sharing);

/* resident: blocks of the kernel that an SM holds. units: SMs. A flow alone on
 * its GPU may cover everything by one wave after another; flows that share it
 * get their part of the resident blocks, so that all are at work at once. */
uint64_t sm_blocks_of(uint32_t kernel, enum sm_path path, uint64_t bytes,
    uint32_t resident, uint32_t units, uint32_t sharing);

#endif
