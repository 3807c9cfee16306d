/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Kernels by name, in C: what each takes of the machine and what it does to
 * memory. */
#ifndef SIM_KERNELS_H
#define SIM_KERNELS_H

#include "sim_machine.h"

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

/* NULL: the simulated driver has no such kernel. */
const struct sim_kernel *kernel_find(const char *name);

#endif
