/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Copies, events and the gate on laptop_x4: 50 GB/s each way, no cost per
 * copy, so every duration is computed by hand. */
#include "sim_test.h"

#include <string.h>

#define MIB  (UINT64_C(1) << 20)
#define SIZE (64 * MIB)
/* Nothing but the events' 0.5 us of about 1.3 ms. */
#define EXACT 4e-4

static struct sim_driver cu;

static void copies_take_bytes_over_rate(void **state)
{
    struct CUevent_st *start = NULL;
    struct CUevent_st *end = NULL;
    (void)state;

    sim_test_context(&cu, 0);
    struct CUstream_st *stream = sim_test_stream(&cu);
    uint8_t *const host = sim_test_host(&cu, SIZE);
    uint8_t *const back = sim_test_host(&cu, SIZE);
    const cu_address device = sim_test_device(&cu, SIZE);

    pattern_fill(host, SIZE, 7);
    OK(cu.event_create(&start, CU_EVENT_IS_DEFAULT));
    OK(cu.event_create(&end, CU_EVENT_IS_DEFAULT));
    OK(cu.event_record(start, stream));
    for (int i = 0; i < 4; i++) {
        OK(cu.copy_down_async(device, host, SIZE, stream));
    }
    OK(cu.event_record(end, stream));
    assert_int_equal(cu.event_query(end), CU_ERROR_NOT_READY);
    OK(cu.copy_up_async(back, device, SIZE, stream));
    OK(cu.stream_synchronize(stream));
    sim_test_near(
        sim_test_elapsed(&cu, start, end), 4 * SIZE / 50e9 * 1e3, EXACT);
    assert_memory_equal(host, back, SIZE);
}

static void gate_holds_until_released(void **state)
{
    (void)state;
    sim_test_context(&cu, 1);
    struct CUstream_st *stream = sim_test_stream(&cu);
    struct CUfunc_st *gate = sim_test_kernel(&cu, "nvbw_gate");
    uint32_t *const words = sim_test_host(&cu, 4096);
    struct gate_args args = { .release = (uint64_t)(uintptr_t)&words[0],
        .outcome = (uint64_t)(uintptr_t)&words[1],
        .limit_ns = 2000000000 };

    sim_test_launch(&cu, gate, &args, stream);
    OK(cu.stream_write_value(
        stream, (uint64_t)(uintptr_t)&words[2], 9, CU_WRITE_DEFAULT));
    const uint64_t before = cu.now();

    for (int i = 0; i < 100; i++) {
        cu.now();
    }
    assert_int_equal(words[2], 0);
    assert_true(cu.now() > before);
    assert_true(cu.now() < before + 1000000000);
    words[0] = 1;
    cu.now();
    assert_int_equal(words[1], GATE_RELEASED);
    assert_int_equal(words[2], 9);
    OK(cu.stream_query(stream));
}

static void gate_times_out(void **state)
{
    (void)state;
    sim_test_context(&cu, 1);
    struct CUstream_st *stream = sim_test_stream(&cu);
    struct CUfunc_st *gate = sim_test_kernel(&cu, "nvbw_gate");
    uint32_t *const words = sim_test_host(&cu, 4096);
    struct gate_args args = { .release = (uint64_t)(uintptr_t)&words[0],
        .outcome = (uint64_t)(uintptr_t)&words[1],
        .limit_ns = 3000000 };
    const uint64_t before = cu.now();

    sim_test_launch(&cu, gate, &args, stream);
    OK(cu.stream_synchronize(stream));
    assert_int_equal(words[1], GATE_TIMED_OUT);
    assert_in_range(cu.now() - before, 3000000, 3100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_take_bytes_over_rate),
        cmocka_unit_test(gate_holds_until_released),
        cmocka_unit_test(gate_times_out),
    };

    sim_test_open(&cu, "laptop_x4", NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
