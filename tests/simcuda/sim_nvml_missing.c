/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What stands in for a function of NVML's list that nobody wrote. */
#include <stddef.h>

#include "sim_nvml.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define STAND_IN(member, symbol, parameters)                                   \
    static nvml_result lacking_##symbol parameters                             \
    {                                                                          \
        return NVML_FUNCTION_NOT_FOUND;                                        \
    }                                                                          \
    __attribute__((weak, alias("lacking_" #symbol)))                           \
    nvml_result symbol parameters;
NVML_FUNCTIONS(STAND_IN)
#pragma GCC diagnostic pop

const char *nvbw_nvml_sim_lacks(void)
{
#define IS_LACKING(member, symbol, parameters)                                 \
    if (symbol == lacking_##symbol) {                                          \
        return #symbol;                                                        \
    }
    NVML_FUNCTIONS(IS_LACKING)
    return NULL;
}
