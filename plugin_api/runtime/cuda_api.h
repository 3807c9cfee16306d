/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The CUDA driver, opened at run time: libcuda.so.1, or a library that stands
 * for it, and its functions by name. A function that the driver lacks is
 * there all the same and answers with a number of ours, which cuda_fail turns
 * into a sentence; so no caller looks for NULL. */
#ifndef NVBW_CUDA_API_H
#define NVBW_CUDA_API_H

#include "cuda_abi.h"
#include "status.h"

/* Results of ours, above all of the driver's: function number n of
 * CUDA_FUNCTIONS is missing. */
enum { CUDA_MISSING = 100000 };

#define CUDA_TYPE(member, symbol, version, parameters)                         \
    typedef cu_result cuda_##member##_fn parameters;
CUDA_FUNCTIONS(CUDA_TYPE)
#undef CUDA_TYPE

struct cuda_api {
    void *library;
    const char *file; /* as it was asked for; lives as long as the caller's */
    cuda_get_proc_v2_fn *get_proc_v2;
    cuda_get_proc_fn *get_proc; /* where there is no v2 */
    cuda_sim_now_fn *sim_now;   /* the simulated driver only */
    int version;                /* 13000: CUDA 13.0; 0 before cuda_start */
#define CUDA_MEMBER(member, symbol, version, parameters)                       \
    cuda_##member##_fn *member;
    CUDA_FUNCTIONS(CUDA_MEMBER)
#undef CUDA_MEMBER
};

/* Opens the library and looks the functions up; calls none. file NULL:
 * libcuda.so.1. NVBW_E_SKIPPED with NVBW_SKIP_NO_DEVICE as code where there is
 * no driver. The library is never closed. */
int32_t cuda_open(const char *file, struct cuda_api *out, struct error *err);
/* cuInit and the driver's version. */
int32_t cuda_start(struct cuda_api *api, struct error *err);

/* A function by name, as cuGetProcAddress gives it, or NULL. */
void *cuda_function(
    const struct cuda_api *api, const char *symbol, uint32_t version);

/* Fills *err from a result that is not CU_SUCCESS: "<format>: <name>: <cause
 * and remedy>". Returns NVBW_E_CUDA, or NVBW_E_SKIPPED where the function is
 * missing (driver_too_old). */
int32_t cuda_fail(const struct cuda_api *api, struct error *err,
    cu_result result, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#define CUDA_TRY(api, err, result, ...)                                        \
    do {                                                                       \
        const cu_result cuda_result_ = (result);                               \
        if (cuda_result_ != CU_SUCCESS) {                                      \
            return cuda_fail((api), (err), cuda_result_, __VA_ARGS__);         \
        }                                                                      \
    } while (0)

#endif
