/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cuda_api.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "driver_codes.h"

enum { OLDEST_CUDA = 11030 }; /* the first with cuGetProcAddress */

#define MISSING_NUMBER(member, symbol, version, parameters) missing_at_##member,
enum { CUDA_FUNCTIONS(MISSING_NUMBER) MISSING_END };

/* Stand-ins of the right type, one per function. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define MISSING_FUNCTION(member, symbol, version, parameters)                  \
    static cu_result missing_##member parameters                               \
    {                                                                          \
        return (cu_result)CUDA_MISSING + missing_at_##member;                  \
    }
CUDA_FUNCTIONS(MISSING_FUNCTION)
#pragma GCC diagnostic pop

#define FUNCTION_ROW(member, symbol, version, parameters) { #symbol, version },
static const struct function_row {
    const char *symbol;
    int version;
} function_rows[] = { CUDA_FUNCTIONS(FUNCTION_ROW) };

void *cuda_function(
    const struct cuda_api *api, const char *symbol, uint32_t version)
{
    void *address = NULL;
    unsigned int found = CU_PROC_FOUND;
    cu_result result = CU_ERROR_NOT_FOUND;

    if (api->get_proc_v2 != NULL) {
        result = api->get_proc_v2(symbol, &address, (int)version, 0, &found);
    } else if (api->get_proc != NULL) {
        result = api->get_proc(symbol, &address, (int)version, 0);
    }
    return result == CU_SUCCESS && found == CU_PROC_FOUND ? address : NULL;
}

/* dlsym and cuGetProcAddress give void *, which POSIX lets us take for a
 * function; the copy avoids a cast that ISO C does not know. */
static void set_function(void *member, void *address)
{
    memcpy(member, &address, sizeof address);
}

static void look_up(struct cuda_api *api)
{
    void *address;

#define LOOK_UP(member_, symbol_, version_, parameters_)                       \
    api->member_ = missing_##member_;                                          \
    address = cuda_function(api, #symbol_, version_);                          \
    if (address != NULL) {                                                     \
        set_function(&api->member_, address);                                  \
    }
    CUDA_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
}

static int32_t no_driver(struct error *err)
{
    if (err != NULL) {
        err->code = NVBW_SKIP_NO_DEVICE;
    }
    return NVBW_E_SKIPPED;
}

int32_t cuda_open(const char *file, struct cuda_api *out, struct error *err)
{
    *out = (struct cuda_api){ .file = file != NULL ? file : "libcuda.so.1" };
    out->library = dlopen(out->file, RTLD_NOW | RTLD_LOCAL);
    if (out->library == NULL) {
        error_set(err, NVBW_E_SKIPPED,
            "no CUDA driver: %s; install it or check nvidia-smi", dlerror());
        return no_driver(err);
    }
    set_function(&out->get_proc_v2, dlsym(out->library, CUDA_GET_PROC_V2));
    set_function(&out->get_proc, dlsym(out->library, CUDA_GET_PROC));
    set_function(&out->sim_now, dlsym(out->library, CUDA_SIM_NOW));
    if (out->get_proc_v2 == NULL && out->get_proc == NULL) {
        error_set(err, NVBW_E_SKIPPED,
            "%s is no CUDA driver of %d.%d or newer: it lacks %s", out->file,
            OLDEST_CUDA / 1000, OLDEST_CUDA % 1000 / 10, CUDA_GET_PROC);
        return no_driver(err);
    }
    look_up(out);
    return NVBW_OK;
}

int32_t cuda_start(struct cuda_api *api, struct error *err)
{
    CUDA_TRY(api, err, api->init(0), "%s: cuInit failed", api->file);
    CUDA_TRY(api, err, api->driver_version(&api->version),
        "%s: cuDriverGetVersion failed", api->file);
    return NVBW_OK;
}

static int32_t say_missing(const struct cuda_api *api, struct error *err,
    cu_result result, const char *what)
{
    const struct function_row *const row =
        &function_rows[result - CUDA_MISSING];

    error_set(err, NVBW_E_SKIPPED,
        "%s: the driver (CUDA %d.%d) has no %s, which needs CUDA %d.%d", what,
        api->version / 1000, api->version % 1000 / 10, row->symbol,
        row->version / 1000, row->version % 1000 / 10);
    if (err != NULL) {
        err->code = NVBW_SKIP_DRIVER_TOO_OLD;
    }
    return NVBW_E_SKIPPED;
}

int32_t cuda_fail(const struct cuda_api *api, struct error *err,
    cu_result result, const char *format, ...)
{
    char what[512];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (result >= CUDA_MISSING && result < CUDA_MISSING + MISSING_END) {
        return say_missing(api, err, result, what);
    }

    const char *const known = driver_code_text(result);
    const char *name = NULL;
    const char *text = NULL;

    if (api->error_name(result, &name) != CU_SUCCESS || name == NULL) {
        name = driver_code_name(result);
    }
    if (known == NULL && api->error_string(result, &text) == CU_SUCCESS) {
        text = text != NULL ? text : "no further words";
    }
    error_set(err, NVBW_E_CUDA, "%s: %s (%u): %s", what, name, result,
        known != NULL ? known : (text != NULL ? text : "no further words"));
    if (err != NULL) {
        err->code = result;
    }
    return NVBW_E_CUDA;
}
