/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What the tests of the simulated driver share: its functions, looked up as
 * the runtime does, and a machine with one context current. */
#ifndef SIM_TEST_H
#define SIM_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "args.h"
#include "cuda_abi.h"
#include "pattern.h"

#define MEMBER(member, symbol, version, parameters)                            \
    cu_result(*member) parameters;
struct sim_driver {
    void *library;
    cuda_get_proc_v2_fn *get_proc;
    cuda_sim_now_fn *now;
    CUDA_FUNCTIONS(MEMBER)
};
#undef MEMBER

/* Opens the library under these settings, which may be NULL. */
void sim_test_open(
    struct sim_driver *driver, const char *profile, const char *faults);

/* Makes GPU `device`'s context current and returns it. */
struct CUctx_st *sim_test_context(struct sim_driver *driver, int device);
struct CUstream_st *sim_test_stream(struct sim_driver *driver);
cu_address sim_test_device(struct sim_driver *driver, size_t bytes);
void *sim_test_host(struct sim_driver *driver, size_t bytes);
struct CUfunc_st *sim_test_kernel(struct sim_driver *driver, const char *name);
/* One thread, one struct of arguments. */
void sim_test_launch(struct sim_driver *driver, struct CUfunc_st *function,
    void *args, struct CUstream_st *stream);
/* Milliseconds between two events. */
double sim_test_elapsed(struct sim_driver *driver, struct CUevent_st *start,
    struct CUevent_st *end);
/* Fails unless actual is within share of expected. */
void sim_test_near(double actual, double expected, double share);

#define OK(call) assert_int_equal((call), CU_SUCCESS)

#endif
