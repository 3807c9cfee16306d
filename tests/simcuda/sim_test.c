/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "sim_test.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void look_up(void *library, const char *name, void *out)
{
    void *address = dlsym(library, name);

    assert_non_null(address);
    memcpy(out, &address, sizeof address);
}

static void look_up_proc(
    const struct sim_driver *driver, const char *symbol, int version, void *out)
{
    void *address = NULL;
    unsigned int found = 1;

    OK(driver->get_proc(symbol, &address, version, 0, &found));
    assert_int_equal(found, CU_PROC_FOUND);
    assert_non_null(address);
    memcpy(out, &address, sizeof address);
}

void sim_test_open(
    struct sim_driver *driver, const char *profile, const char *faults)
{
    if (profile != NULL) {
        setenv("NVBW_SIM_PROFILE", profile, 1);
    }
    if (faults != NULL) {
        setenv("NVBW_SIM_FAULTS", faults, 1);
    }
    memset(driver, 0, sizeof *driver);
    driver->library = dlopen(SIM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(driver->library);
    look_up(driver->library, CUDA_GET_PROC_V2, &driver->get_proc);
    look_up(driver->library, CUDA_SIM_NOW, &driver->now);
#define LOOK_UP(member_, symbol_, version_, parameters_)                       \
    look_up_proc(driver, #symbol_, version_, &driver->member_);
    CUDA_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
}

struct CUctx_st *sim_test_context(struct sim_driver *driver, int device)
{
    struct CUctx_st *context = NULL;

    OK(driver->init(0));
    OK(driver->context_retain(&context, device));
    OK(driver->context_set(context));
    return context;
}

struct CUstream_st *sim_test_stream(struct sim_driver *driver)
{
    struct CUstream_st *stream = NULL;

    OK(driver->stream_create(&stream, CU_STREAM_IS_NON_BLOCKING));
    return stream;
}

cu_address sim_test_device(struct sim_driver *driver, size_t bytes)
{
    cu_address address = 0;

    OK(driver->memory_alloc(&address, bytes));
    return address;
}

void *sim_test_host(struct sim_driver *driver, size_t bytes)
{
    void *memory = NULL;

    OK(driver->host_alloc(
        &memory, bytes, CU_HOST_ALLOC_PORTABLE | CU_HOST_ALLOC_MAPPED));
    return memory;
}

struct CUfunc_st *sim_test_kernel(struct sim_driver *driver, const char *name)
{
    char image[128];
    struct CUmod_st *module = NULL;
    struct CUfunc_st *function = NULL;

    snprintf(image, sizeof image, CUDA_SIM_IMAGE "%s\n", name);
    OK(driver->module_load(&module, image));
    OK(driver->module_function(&function, module, name));
    return function;
}

void sim_test_launch(struct sim_driver *driver, struct CUfunc_st *function,
    void *args, struct CUstream_st *stream)
{
    void *parameters[] = { args };

    OK(driver->launch(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}

double sim_test_elapsed(
    struct sim_driver *driver, struct CUevent_st *start, struct CUevent_st *end)
{
    float ms = 0;

    OK(driver->event_elapsed(&ms, start, end));
    return (double)ms;
}

void sim_test_near(double actual, double expected, double share)
{
    if (fabs(actual - expected) > share * fabs(expected)) {
        fail_msg("%.6f is not within %.4f %% of %.6f", actual, share * 100,
            expected);
    }
}
