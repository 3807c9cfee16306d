/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What the SM initiator keeps of a flow. */
#ifndef NVBW_SM_FLOW_H
#define NVBW_SM_FLOW_H

#include "cuda_abi.h"
#include "initiator.h"
#include "sm_shape.h"

enum { SM_STAMPS = 256 };
#define SM_LIMIT_NS UINT64_C(60000000000)

struct sm_flow {
    uint32_t kernel; /* SM_KERNEL_* */
    enum sm_path path;
    uint32_t sharing;      /* SM flows on its GPU, this one included */
    uint32_t resident;     /* blocks of the kernel that an SM holds */
    cu_address room;       /* on its GPU: what follows */
    cu_address sums;       /* of counted reads, SUM_SLOTS of them */
    cu_address spare_sums; /* of the one that warms up; the second word of each
                            slot is for what the sums should be */
    cu_address stamps;     /* SM_STAMPS of them; the last is spare */
    struct stamp stamps_read[SM_STAMPS];
};

/* Compares what reads found with what they should. (sm_read.c) */
int32_t sm_verify_read(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err);

#endif
