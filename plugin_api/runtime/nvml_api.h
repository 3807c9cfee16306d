/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* NVML, opened at run time. A function that the library lacks is there all the
 * same and answers NVML_FUNCTION_NOT_FOUND, so what cannot be read stays
 * absent in the facts. Called in roles facts, watch and health only. */
#ifndef NVBW_NVML_API_H
#define NVBW_NVML_API_H

#include "nvml_abi.h"
#include "status.h"

#define NVML_TYPE(member, symbol, parameters)                                  \
    typedef nvml_result nvml_##member##_fn parameters;
NVML_FUNCTIONS(NVML_TYPE)
#undef NVML_TYPE

struct nvml_api {
    void *library;
#define NVML_MEMBER(member, symbol, parameters) nvml_##member##_fn *member;
    NVML_FUNCTIONS(NVML_MEMBER)
#undef NVML_MEMBER
};

/* Opens and initialises libnvidia-ml.so.1 or, where driver_file stands for the
 * driver, libnvml_sim.so beside it. The library is never closed. */
int32_t nvml_open(
    const char *driver_file, struct nvml_api *out, struct error *err);

/* A field's value as a whole number; 1 or 0. */
int nvml_field_number(const struct nvml_field *field, uint64_t *out_value);

#endif
