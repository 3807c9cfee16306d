/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What initiators with kernels of the engine keep of a flow, and what they
 * share. */
#ifndef NVBW_SM_FLOW_H
#define NVBW_SM_FLOW_H

#include "cuda_abi.h"
#include "initiator.h"
#include "sm_shape.h"

enum { SM_STAMPS = 256 };
#define SM_LIMIT_NS UINT64_C(60000000000)

struct gpu;

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
    uint64_t lap_sum;      /* what one copy adds to the sums (sm_results.c) */
    struct stamp stamps_read[SM_STAMPS];
};

/* What their tables are made of. (initiator_sm.c) */
int32_t sm_open_kernel(struct cuda_session *cuda, struct cuda_flow *flow,
    uint32_t kernel, struct error *err);
/* The same with the kernel that the operation has. */
int32_t sm_open_flow(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err);
void sm_close_flow(struct cuda_session *cuda, struct cuda_flow *flow);
/* Where a copy's stamps go: each of a sample has its own, beyond those the
 * last is shared. */
uint64_t sm_stamps_of(const struct sm_flow *sm, uint64_t number);
int32_t sm_enqueue(struct cuda_session *cuda, struct cuda_flow *flow,
    uint64_t first, uint64_t count, struct error *err);
int32_t sm_begin(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err);
int32_t sm_get_stamps(struct cuda_session *cuda, struct cuda_flow *flow,
    const struct stamp **out_stamps, uint64_t *out_count, struct error *err);

/* The sum of what lies at the SUM_SLOTS words of `sums`. (sm_read.c) */
int32_t sm_fetch_sum(const struct gpu *gpu, cu_address sums, uint64_t *out_sum,
    struct error *err);
/* Tells the records of a flow so many bytes verified by a sum. (sm_read.c) */
void sm_tell_sum(const struct cuda_session *cuda, const struct cuda_flow *flow,
    uint64_t bytes, uint64_t expected, uint64_t actual);
/* Of flows whose sources are laid once (sm_results.c), all with the flow's
 * context current: */
struct finding;
int32_t sm_wait(const struct gpu *gpu, const char *what, struct error *err);
/* A kernel over all of the flow's bytes, on the engine's own stream. */
int32_t sm_launch_over(const struct cuda_flow *flow, uint32_t kernel,
    void *args, struct error *err);
/* Lets a kernel work out what one copy's sum will be, at sm->sums, and keeps it
 * as lap_sum; and compares that of a sample, of so many bytes a copy. */
int32_t sm_sum_once(const struct cuda_flow *flow, uint32_t kernel, void *args,
    struct error *err);
int32_t sm_verify_sum(struct cuda_session *cuda, const struct cuda_flow *flow,
    uint64_t bytes, struct error *err);
/* Lets a kernel compare the destination, with its results at sm->sums and one
 * word after. The first wrong word lacks what was expected. */
int32_t sm_compare(const struct cuda_flow *flow, uint32_t kernel, void *args,
    struct finding *out, struct error *err);

/* Bytes/s that a load is to read, 0: not known yet. (sm_load.c) */
double sm_load_rate(const struct cuda_flow *flow);

/* Compares what reads found with what they should. (sm_read.c) */
int32_t sm_verify_read(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err);

#endif
