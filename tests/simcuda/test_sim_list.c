/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The lists of the runtime and of the simulated libraries are the same, and
 * the n-th call of every function can be made to fail. */
#include "sim_test.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvml_abi.h"

static struct sim_driver cu;

static const char *lacks(void *library, const char *symbol)
{
    void *address = dlsym(library, symbol);
    const char *(*ask)(void) = NULL;

    assert_non_null(address);
    memcpy(&ask, &address, sizeof ask);
    return ask();
}

static void every_driver_function_is_there(void **state)
{
    const char *missing = lacks(cu.library, "nvbw_sim_lacks");
    (void)state;

    if (missing != NULL) {
        fail_msg("the simulated driver lacks %s: write it in tests/simcuda",
            missing);
    }
#define IS_EXPORTED(member_, symbol_, version_, parameters_)                   \
    assert_non_null(dlsym(cu.library, #symbol_));
    CUDA_FUNCTIONS(IS_EXPORTED)
#undef IS_EXPORTED
}

static void every_nvml_function_is_there(void **state)
{
    void *nvml = dlopen(NVML_SIM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    (void)state;

    assert_non_null(nvml);
    const char *missing = lacks(nvml, "nvbw_nvml_sim_lacks");

    if (missing != NULL) {
        fail_msg(
            "the simulated NVML lacks %s: write it in tests/simcuda", missing);
    }
#define IS_EXPORTED(member_, symbol_, parameters_)                             \
    assert_non_null(dlsym(nvml, #symbol_));
    NVML_FUNCTIONS(IS_EXPORTED)
#undef IS_EXPORTED
}

static void older_versions_are_not_given(void **state)
{
    void *address = NULL;
    unsigned int found = 0;
    (void)state;

    assert_int_equal(cu.get_proc("cuMemCreate", &address, 10010, 0, &found),
        CU_ERROR_NOT_FOUND);
    assert_int_equal(found, 2);
    assert_null(address);
    assert_int_equal(cu.get_proc("cuNothing", &address, 13000, 0, &found),
        CU_ERROR_NOT_FOUND);
    assert_int_equal(found, 1);
}

/* Called as if all parameters were words, which is how this machine passes
 * them. The fault comes before anything looks at them. */
typedef cu_result any_fn(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
    uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

static void call_fails(const char *symbol, cu_result first, cu_result second)
{
    void *address = dlsym(cu.library, symbol);
    any_fn *function = NULL;

    memcpy(&function, &address, sizeof function);
    const cu_result one = function(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    const cu_result two = function(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

    if (one != first || two != second) {
        fail_msg("%s: %u then %u instead of %u then %u", symbol, one, two,
            first, second);
    }
}

static void every_call_can_fail(void **state)
{
    (void)state;
    cu.init(0);
#define CALL_FAILS(member_, symbol_, version_, parameters_)                    \
    if (strcmp(#symbol_, "cuInit") != 0) {                                     \
        call_fails(#symbol_, 801, 999);                                        \
    }
    CUDA_FUNCTIONS(CALL_FAILS)
#undef CALL_FAILS
}

static char *faults_for_all(void)
{
    const size_t room = 1 << 16;
    char *text = calloc(1, room);
    size_t length = 0;

#define ADD(member_, symbol_, version_, parameters_)                           \
    if (strcmp(#symbol_, "cuInit") != 0) {                                     \
        length += (size_t)snprintf(text + length, room - length,               \
            #symbol_ ":1=801," #symbol_ ":2=999,");                            \
    }
    CUDA_FUNCTIONS(ADD)
#undef ADD
    return text;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_driver_function_is_there),
        cmocka_unit_test(every_nvml_function_is_there),
        cmocka_unit_test(older_versions_are_not_given),
        cmocka_unit_test(every_call_can_fail),
    };
    char *faults = faults_for_all();

    sim_test_open(&cu, "laptop_x4", faults);
    free(faults);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
