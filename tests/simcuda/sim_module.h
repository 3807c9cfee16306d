/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Launches of kernels: what of one is settled when it is asked for, so that a
 * graph can ask first and launch later. */
#ifndef SIM_MODULE_H
#define SIM_MODULE_H

#include "sim_machine.h"

enum { MODULE_ARGS_BYTES = 128 };

struct module_shape {
    unsigned int grid[3], block[3];
    unsigned int shared_bytes;
};

struct module_call {
    struct CUfunc_st *function;
    uint64_t threads; /* of the whole grid */
    unsigned char args[MODULE_ARGS_BYTES];
};

/* Checks what the driver checks at once and copies the arguments. */
cu_result module_call_make(struct CUfunc_st *function,
    const struct module_shape *shape, void *const *parameters,
    struct module_call *out);
cu_result module_call_launch(
    const struct module_call *call, struct CUstream_st *stream);

#endif
