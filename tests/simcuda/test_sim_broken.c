/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Faults of copies, kernels, streams and GPUs strike where they are told to. */
#include "sim_test.h"

#include <string.h>

#define BYTES 4096
#define FAULTS                                                                 \
    "copy:flip=2,copy:skip=3,peer:drop,kernel:fail=1,gpu_lost=2@3,"            \
    "slow=3@2,alloc_above=64MiB,cuMemAlloc:2=2,cuMemHostRegister:1+=712"

static struct sim_driver cu;

static void copies_are_harmed_by_number(void **state)
{
    (void)state;
    sim_test_context(&cu, 0);
    uint8_t *const host = sim_test_host(&cu, BYTES);
    cu_address memory = 0;
    cu_address none = 0;

    OK(cu.memory_alloc(&memory, BYTES));
    assert_int_equal(cu.memory_alloc(&none, BYTES), CU_ERROR_OUT_OF_MEMORY);
    memset(host, 5, BYTES);
    OK(cu.copy_down(memory, host, BYTES));
    OK(cu.copy_up(host, memory, BYTES)); /* one bit wrong */
    uint32_t wrong = 0;

    for (uint32_t i = 0; i < BYTES; i++) {
        wrong += host[i] != 5;
    }
    assert_int_equal(wrong, 1);
    memset(host, 9, BYTES);
    OK(cu.copy_up(host, memory, BYTES)); /* nothing */
    assert_int_equal(host[0], 9);
    OK(cu.copy_up(host, memory, BYTES));
    assert_int_equal(host[0], 5);
}

static void peers_claim_access_and_drop_data(void **state)
{
    (void)state;
    struct CUctx_st *const peer = sim_test_context(&cu, 1);
    const cu_address there = sim_test_device(&cu, BYTES);

    sim_test_context(&cu, 0);
    OK(cu.peer_enable(peer, 0));
    const cu_address here = sim_test_device(&cu, BYTES);

    *(uint8_t *)(uintptr_t)here = 3;
    OK(cu.copy(there, here, BYTES));
    assert_int_equal(*(uint8_t *)(uintptr_t)there, 0);
}

static void allocations_have_a_bound(void **state)
{
    cu_address memory = 0;
    void *host = NULL;
    (void)state;

    sim_test_context(&cu, 0);
    assert_int_equal(
        cu.memory_alloc(&memory, 65 << 20), CU_ERROR_OUT_OF_MEMORY);
    assert_int_equal(cu.host_alloc(&host, 65 << 20, 0), CU_ERROR_OUT_OF_MEMORY);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cu.host_register(&host, sizeof host, 0),
            CU_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    }
}

static void a_kernel_fails_for_good(void **state)
{
    (void)state;
    sim_test_context(&cu, 1);
    struct CUstream_st *stream = sim_test_stream(&cu);
    struct fill_args args = { sim_test_device(&cu, BYTES), BYTES, 1 };

    sim_test_launch(&cu, sim_test_kernel(&cu, "nvbw_fill"), &args, stream);
    assert_int_equal(cu.stream_synchronize(stream), CU_ERROR_LAUNCH_FAILED);
    assert_int_equal(cu.context_synchronize(), CU_ERROR_LAUNCH_FAILED);
}

static void a_gpu_falls_off_the_bus(void **state)
{
    struct CUctx_st *context = NULL;
    (void)state;

    sim_test_context(&cu, 2);
    uint8_t *const host = sim_test_host(&cu, BYTES);
    const cu_address memory = sim_test_device(&cu, BYTES);

    OK(cu.copy_down(memory, host, BYTES));
    OK(cu.copy_down(memory, host, BYTES));
    assert_int_equal(cu.copy_down(memory, host, BYTES), CU_ERROR_UNKNOWN);
    assert_int_equal(cu.context_synchronize(), CU_ERROR_UNKNOWN);
    sim_test_context(&cu, 0);
    assert_int_equal(
        cu.context_retain(&context, 2), CU_ERROR_DEVICE_UNAVAILABLE);
}

static double time_copy(struct CUstream_st *stream, cu_address memory,
    const void *host, size_t bytes)
{
    const uint64_t before = cu.now();

    OK(cu.copy_down_async(memory, host, bytes, stream));
    OK(cu.stream_synchronize(stream));
    return (double)(cu.now() - before);
}

static void a_gpu_slows_down(void **state)
{
    const size_t bytes = 32 << 20;
    (void)state;

    sim_test_context(&cu, 3);
    struct CUstream_st *stream = sim_test_stream(&cu);
    void *const host = sim_test_host(&cu, bytes);
    const cu_address memory = sim_test_device(&cu, bytes);
    const double first = time_copy(stream, memory, host, bytes);

    sim_test_near(time_copy(stream, memory, host, bytes), 2 * first, 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_harmed_by_number),
        cmocka_unit_test(peers_claim_access_and_drop_data),
        cmocka_unit_test(allocations_have_a_bound),
        cmocka_unit_test(a_kernel_fails_for_good),
        cmocka_unit_test(a_gpu_falls_off_the_bus),
        cmocka_unit_test(a_gpu_slows_down),
    };

    sim_test_open(&cu, "laptop_x4", FAULTS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
