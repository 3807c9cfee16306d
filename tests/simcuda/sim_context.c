/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Primary contexts, errors by name, and where functions are found. */
#include <string.h>

#include "sim_entry.h"
#include "sim_machine.h"

static cu_result retain(struct CUctx_st **out, int device)
{
    struct sim_machine *machine = sim_machine();

    if (out == NULL) {
        return CU_ERROR_INVALID_VALUE;
    }
    if (device < 0 || (uint32_t)device >= machine->profile.count) {
        return CU_ERROR_INVALID_DEVICE;
    }
    struct sim_gpu *gpu = &machine->gpus[device];

    if (gpu->lost || __atomic_load_n(&machine->shared->gpus[device].lost,
                         __ATOMIC_RELAXED)) {
        return CU_ERROR_DEVICE_UNAVAILABLE;
    }
    gpu->context.users++;
    *out = &gpu->context;
    return CU_SUCCESS;
}

cu_result cuDevicePrimaryCtxRetain(struct CUctx_st **out, int device)
{
    SIM_CALL(cuDevicePrimaryCtxRetain, retain(out, device));
}

static cu_result release(int device)
{
    struct sim_machine *machine = sim_machine();

    if (device < 0 || (uint32_t)device >= machine->profile.count) {
        return CU_ERROR_INVALID_DEVICE;
    }
    struct CUctx_st *context = sim_context_of((uint32_t)device);

    if (context->users == 0) {
        return CU_ERROR_INVALID_CONTEXT;
    }
    context->users--;
    return CU_SUCCESS;
}

cu_result cuDevicePrimaryCtxRelease(int device)
{
    SIM_CALL(cuDevicePrimaryCtxRelease, release(device));
}

static cu_result set(struct CUctx_st *context)
{
    sim_set_current(context);
    return CU_SUCCESS;
}

cu_result cuCtxSetCurrent(struct CUctx_st *context)
{
    SIM_CALL(cuCtxSetCurrent, set(context));
}

static cu_result get(struct CUctx_st **out)
{
    if (out == NULL) {
        return CU_ERROR_INVALID_VALUE;
    }
    *out = sim_current();
    return CU_SUCCESS;
}

cu_result cuCtxGetCurrent(struct CUctx_st **out)
{
    SIM_CALL(cuCtxGetCurrent, get(out));
}

static cu_result synchronize(void)
{
    struct CUctx_st *context = sim_current();

    if (context == NULL) {
        return CU_ERROR_INVALID_CONTEXT;
    }
    sim_drain(context);
    return context->sticky;
}

cu_result cuCtxSynchronize(void)
{
    SIM_CALL(cuCtxSynchronize, synchronize());
}

/* ---- Errors -------------------------------------------------------------- */

struct result_row {
    cu_result number;
    const char *name;
};

#define RESULT_ROW(name, number) { number, "CUDA_" #name },

static const struct result_row results[] = { CUDA_RESULTS(RESULT_ROW) };

static cu_result error_name(cu_result error, const char **out)
{
    if (out == NULL) {
        return CU_ERROR_INVALID_VALUE;
    }
    *out = NULL;
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        if (results[i].number == error) {
            *out = results[i].name;
        }
    }
    return *out != NULL ? (cu_result)CU_SUCCESS
                        : (cu_result)CU_ERROR_INVALID_VALUE;
}

cu_result cuGetErrorName(cu_result error, const char **out)
{
    SIM_CALL(cuGetErrorName, error_name(error, out));
}

cu_result cuGetErrorString(cu_result error, const char **out)
{
    SIM_CALL(cuGetErrorString, error_name(error, out));
}

/* ---- Where functions are found ------------------------------------------- */

struct proc_row {
    const char *symbol;
    void (*function)(void);
    int version;
};

#define PROC_ROW(member, symbol, version, parameters)                          \
    { #symbol, (void (*)(void))symbol, version },

static const struct proc_row procs[] = { CUDA_FUNCTIONS(PROC_ROW) };

enum { PROC_FOUND, PROC_UNKNOWN, PROC_VERSION };

static cu_result find_proc(
    const char *symbol, void **out, int version, unsigned int *out_found)
{
    *out = NULL;
    *out_found = PROC_UNKNOWN;
    for (size_t i = 0; i < sizeof procs / sizeof procs[0]; i++) {
        if (strcmp(procs[i].symbol, symbol) != 0) {
            continue;
        }
        if (version < procs[i].version) {
            *out_found = PROC_VERSION;
            return CU_ERROR_NOT_FOUND;
        }
        memcpy(out, &procs[i].function, sizeof *out);
        *out_found = PROC_FOUND;
        return CU_SUCCESS;
    }
    return CU_ERROR_NOT_FOUND;
}

cu_result cuGetProcAddress_v2(const char *symbol, void **out, int version,
    uint64_t flags, unsigned int *out_found)
{
    unsigned int found = 0;

    (void)flags;
    if (symbol == NULL || out == NULL) {
        return CU_ERROR_INVALID_VALUE;
    }
    return find_proc(
        symbol, out, version, out_found == NULL ? &found : out_found);
}

cu_result cuGetProcAddress(
    const char *symbol, void **out, int version, uint64_t flags)
{
    return cuGetProcAddress_v2(symbol, out, version, flags, NULL);
}
