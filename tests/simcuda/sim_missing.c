/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What stands in for a function of the list that nobody wrote: it fails and
 * says its name. A real definition elsewhere takes its place. */
#include <stdio.h>
#include <unistd.h>

#include "sim_entry.h"

/* A code that no function gives otherwise. */
enum { LACKING = 998 };

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define STAND_IN(member, symbol, version, parameters)                          \
    static cu_result lacking_##symbol parameters                               \
    {                                                                          \
        dprintf(STDERR_FILENO,                                                 \
            "simulated driver: " #symbol " is not part of it\n");              \
        return LACKING;                                                        \
    }                                                                          \
    __attribute__((weak, alias("lacking_" #symbol)))                           \
    cu_result symbol parameters;
CUDA_FUNCTIONS(STAND_IN)
#pragma GCC diagnostic pop

const char *nvbw_sim_lacks(void)
{
#define IS_LACKING(member, symbol, version, parameters)                        \
    if (symbol == lacking_##symbol) {                                          \
        return #symbol;                                                        \
    }
    CUDA_FUNCTIONS(IS_LACKING)
    return NULL;
}
