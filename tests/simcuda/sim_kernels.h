/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Kernels by name, in C: what each takes of the machine and what it does to
 * memory. */
#ifndef SIM_KERNELS_H
#define SIM_KERNELS_H

#include "args.h"
#include "sim_machine.h"
#include "sim_paths.h"

struct kernel_launch {
    struct sim_machine *machine;
    struct CUctx_st *context;
    uint64_t threads; /* of the whole grid */
};

struct sim_kernel {
    const char *name;
    uint32_t args_bytes; /* of its one parameter; in op->words */
    /* Checks the addresses and fills in time and deeds. */
    cu_result (*plan)(const struct kernel_launch *launch, struct sim_op *op);
};

/* Where a kernel may go: 0, or the error that ends its context. _bytes: for
 * memory that it takes byte by byte where it must, else for words. */
cu_result kernel_reach_bytes(const struct kernel_launch *launch,
    uint64_t address, uint64_t bytes, struct place *out);
cu_result kernel_reach(const struct kernel_launch *launch, uint64_t address,
    uint64_t bytes, struct place *out);

/* What plans of kernels that stamp begin and end with. (sim_kernels_sm.c) */
int kernel_may_stamp(const struct kernel_launch *launch, uint64_t stamps);
void kernel_remember(const struct kernel_launch *launch, struct sim_op *op);
void kernel_stamp(const struct sim_op *op, uint64_t stamps);

/* sim_kernels_stream.c */
typedef cu_result kernel_plan_fn(
    const struct kernel_launch *launch, struct sim_op *op);
kernel_plan_fn stream_copy_plan, stream_scale_plan, stream_add_plan,
    stream_triad_plan, stream_dot_plan, numbers_fill_plan, numbers_compare_plan,
    numbers_sum_plan;

/* sim_kernels_access.c */
kernel_plan_fn access_copy_plan, access_read_plan, access_write_plan,
    access_compare_plan, access_sum_plan;

/* sim_kernels_sm.c */
#define SIM_KERNEL_COUNT(name, args) +1
enum { SIM_KERNELS_SM = 0 SM_KERNELS(SIM_KERNEL_COUNT) };
extern const struct sim_kernel sim_kernels_sm[SIM_KERNELS_SM];

/* sim_kernels_chase.c */
enum { SIM_KERNELS_CHASE = 0 CHASE_KERNELS(SIM_KERNEL_COUNT) };
extern const struct sim_kernel sim_kernels_chase[SIM_KERNELS_CHASE];

/* NULL: the simulated driver has no such kernel. */
const struct sim_kernel *kernel_find(const char *name);

#endif
