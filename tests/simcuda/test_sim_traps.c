/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What surprises people on the real driver surprises them here. */
#include "sim_test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB (UINT64_C(1) << 20)

enum { RELEASE, OUTCOME, WORDS = 64, QUEUE = 1024 };

static struct sim_driver cu;
static struct CUctx_st *contexts[2];
static uint32_t *words;

static uint64_t address_of(const void *memory)
{
    return (uint64_t)(uintptr_t)memory;
}

static int set_up(void **state)
{
    (void)state;
    for (int i = 1; i >= 0; i--) {
        contexts[i] = sim_test_context(&cu, i);
    }
    if (words == NULL) {
        words = sim_test_host(&cu, WORDS * sizeof *words);
    }
    memset(words, 0, WORDS * sizeof *words);
    return 0;
}

/* A gate of 1 ms that nobody opens. */
static void close_gate(struct CUstream_st *stream)
{
    static struct CUfunc_st *gate;
    struct gate_args args = { .release = address_of(&words[RELEASE]),
        .outcome = address_of(&words[OUTCOME]),
        .limit_ns = 1000000 };

    if (gate == NULL) {
        gate = sim_test_kernel(&cu, "nvbw_gate");
    }
    sim_test_launch(&cu, gate, &args, stream);
}

static void allocating_waits_for_the_gpu(void **state)
{
    struct CUstream_st *stream = sim_test_stream(&cu);
    (void)state;

    close_gate(stream);
    assert_int_equal(words[OUTCOME], 0);
    OK(cu.memory_free(sim_test_device(&cu, MIB)));
    assert_int_equal(words[OUTCOME], GATE_TIMED_OUT);
}

static void first_use_of_a_kernel_waits_for_the_gpu(void **state)
{
    struct CUstream_st *stream = sim_test_stream(&cu);
    struct CUfunc_st *fill = sim_test_kernel(&cu, "nvbw_fill");
    const cu_address memory = sim_test_device(&cu, MIB);
    struct fill_args args = { .memory = memory, .bytes = MIB };
    (void)state;

    close_gate(stream);
    sim_test_launch(&cu, fill, &args, stream);
    assert_int_equal(words[OUTCOME], GATE_TIMED_OUT);
    words[OUTCOME] = 0;
    close_gate(stream);
    sim_test_launch(&cu, fill, &args, stream);
    assert_int_equal(words[OUTCOME], 0);
    OK(cu.context_synchronize());
    OK(cu.memory_free(memory));
}

static void pageable_copies_block(void **state)
{
    struct CUstream_st *stream = sim_test_stream(&cu);
    const cu_address memory = sim_test_device(&cu, MIB);
    void *const pageable = malloc(MIB);
    void *const pinned = sim_test_host(&cu, MIB);
    (void)state;

    OK(cu.copy_down_async(memory, pinned, MIB, stream));
    assert_int_equal(cu.stream_query(stream), CU_SUCCESS);
    OK(cu.copy_down_async(memory, pinned, MIB, stream));
    OK(cu.copy_down_async(memory, pinned, MIB, stream));
    assert_int_equal(cu.stream_query(stream), CU_ERROR_NOT_READY);
    memset(pageable, 7, MIB);
    OK(cu.copy_down_async(memory, pageable, MIB, stream));
    OK(cu.stream_query(stream));
    assert_int_equal(*(uint8_t *)(uintptr_t)memory, 7);
    free(pageable);
    OK(cu.host_free(pinned));
    OK(cu.memory_free(memory));
}

static void a_full_queue_waits_for_room(void **state)
{
    struct CUstream_st *stream = sim_test_stream(&cu);
    (void)state;

    close_gate(stream);
    for (uint32_t i = 1; i < QUEUE; i++) {
        OK(cu.stream_write_value(
            stream, address_of(&words[8]), i, CU_WRITE_DEFAULT));
    }
    assert_int_equal(words[OUTCOME], 0);
    OK(cu.stream_write_value(
        stream, address_of(&words[8]), QUEUE, CU_WRITE_DEFAULT));
    assert_int_equal(words[OUTCOME], GATE_TIMED_OUT);
    OK(cu.stream_synchronize(stream));
    assert_int_equal(words[8], QUEUE);
}

/* Runs in a process of its own, which nothing but the alarm may end. */
static void never_returns(void (*body)(struct CUstream_st *))
{
    struct CUstream_st *stream = sim_test_stream(&cu);
    const pid_t child = fork();
    int status = 0;

    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGALRM, SIG_DFL);
        alarm(1);
        body(stream);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGALRM);
}

static void wait_without_end(struct CUstream_st *stream)
{
    cu.stream_wait_value(stream, address_of(&words[9]), 1, CU_WAIT_GEQ);
    cu.stream_synchronize(stream);
}

static void overfill(struct CUstream_st *stream)
{
    for (int i = 0; i <= QUEUE; i++) {
        cu.stream_wait_value(stream, address_of(&words[9]), 1, CU_WAIT_GEQ);
    }
}

static void what_deadlocks_there_deadlocks_here(void **state)
{
    (void)state;
    never_returns(wait_without_end);
    never_returns(overfill);
}

static void more_streams_than_connections_share_them(void **state)
{
    struct CUstream_st *streams[9]; /* 8 connections by default */
    (void)state;

    for (int i = 0; i < 9; i++) {
        streams[i] = sim_test_stream(&cu);
    }
    OK(cu.stream_wait_value(streams[0], address_of(&words[10]), 1, CU_WAIT_EQ));
    OK(cu.stream_write_value(
        streams[0], address_of(&words[11]), 1, CU_WRITE_DEFAULT));
    OK(cu.stream_write_value(
        streams[1], address_of(&words[12]), 1, CU_WRITE_DEFAULT));
    OK(cu.stream_write_value(
        streams[8], address_of(&words[13]), 1, CU_WRITE_DEFAULT));
    OK(cu.stream_synchronize(streams[1]));
    assert_int_equal(words[12], 1);
    assert_int_equal(words[13], 0); /* behind a stranger's wait */
    words[10] = 1;
    OK(cu.stream_synchronize(streams[8]));
    assert_int_equal(words[13], 1);
    for (int i = 0; i < 9; i++) {
        OK(cu.stream_destroy(streams[i]));
    }
}

static void ranges_are_checked(void **state)
{
    const cu_address memory = sim_test_device(&cu, MIB);
    void *const host = sim_test_host(&cu, 2 * MIB);
    (void)state;

    assert_int_equal(
        cu.copy_down(memory, host, MIB + 1), CU_ERROR_INVALID_VALUE);
    assert_int_equal(
        cu.copy_down(memory + MIB, host, 1), CU_ERROR_INVALID_VALUE);
    assert_int_equal(cu.copy_down(1, host, 1), CU_ERROR_INVALID_VALUE);
    assert_int_equal(cu.copy_up(host, memory + 1, MIB), CU_ERROR_INVALID_VALUE);
    OK(cu.copy_down(memory + MIB - 1, host, 1));
    OK(cu.memory_free(memory));
    assert_int_equal(cu.copy_down(memory, host, 1), CU_ERROR_INVALID_VALUE);
    assert_int_equal(cu.memory_free(memory), CU_ERROR_INVALID_VALUE);
    OK(cu.host_free(host));
}

static void memory_ends(void **state)
{
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    cu_address memory = 0;
    (void)state;

    OK(cu.memory_info(&free_bytes, &total_bytes));
    assert_int_equal(
        cu.memory_alloc(&memory, free_bytes + 1), CU_ERROR_OUT_OF_MEMORY);
    OK(cu.memory_alloc(&memory, free_bytes));
    cu_address more = 0;

    assert_int_equal(cu.memory_alloc(&more, 1), CU_ERROR_OUT_OF_MEMORY);
    OK(cu.memory_free(memory));
}

static void clocks_of_two_gpus_are_not_compared(void **state)
{
    struct CUevent_st *events[2];
    float ms = 0;
    (void)state;

    for (int i = 0; i < 2; i++) {
        OK(cu.context_set(contexts[i]));
        struct CUstream_st *stream = sim_test_stream(&cu);

        OK(cu.event_create(&events[i], CU_EVENT_IS_DEFAULT));
        OK(cu.event_record(events[i], stream));
        OK(cu.stream_synchronize(stream));
        assert_int_equal(cu.event_record(events[0], stream),
            i == 0 ? CU_SUCCESS : CU_ERROR_INVALID_HANDLE);
    }
    assert_int_equal(
        cu.event_elapsed(&ms, events[0], events[1]), CU_ERROR_INVALID_HANDLE);
}

static void events_order_streams_of_two_gpus(void **state)
{
    struct CUevent_st *event = NULL;
    struct CUstream_st *first = sim_test_stream(&cu);
    (void)state;

    OK(cu.event_create(&event, CU_EVENT_HAS_NO_TIMING));
    OK(cu.stream_wait_value(first, address_of(&words[20]), 1, CU_WAIT_EQ));
    OK(cu.event_record(event, first));
    OK(cu.context_set(contexts[1]));
    struct CUstream_st *second = sim_test_stream(&cu);

    OK(cu.stream_wait_event(second, event, 0));
    OK(cu.stream_write_value(
        second, address_of(&words[21]), 1, CU_WRITE_DEFAULT));
    for (int i = 0; i < 10; i++) {
        cu.now();
    }
    assert_int_equal(words[21], 0);
    assert_int_equal(cu.event_query(event), CU_ERROR_NOT_READY);
    words[20] = 1;
    cu.now();
    assert_int_equal(words[21], 1);
    OK(cu.event_query(event));
    OK(cu.event_destroy(event));
}

static void other_images_are_refused(void **state)
{
    static const unsigned char fatbin[] = { 0x50, 0xed, 0x55, 0xba, 1, 0 };
    struct CUmod_st *module = NULL;
    struct CUfunc_st *function = NULL;
    (void)state;

    assert_int_equal(cu.module_load(&module, fatbin), CU_ERROR_INVALID_IMAGE);
    assert_int_equal(
        cu.module_load(&module, "//\n.version 8.0\n"), CU_ERROR_INVALID_PTX);
    OK(cu.module_load(&module, CUDA_SIM_IMAGE "nvbw_fill\nother\n"));
    OK(cu.module_function(&function, module, "nvbw_fill"));
    assert_int_equal(
        cu.module_function(&function, module, "nvbw_gate"), CU_ERROR_NOT_FOUND);
    assert_int_equal(
        cu.module_function(&function, module, "other"), CU_ERROR_NOT_FOUND);
    OK(cu.module_unload(module));
}

static void kernels_really_work(void **state)
{
    enum { BYTES = 100003, KEY = 77 };
    struct CUstream_st *stream = sim_test_stream(&cu);
    const cu_address memory = sim_test_device(&cu, BYTES);
    uint64_t *const out = sim_test_host(&cu, 64);
    struct fill_args fill = { memory, BYTES, KEY };
    struct compare_args compare = { memory, BYTES, KEY, address_of(&out[0]),
        address_of(&out[1]) };
    struct sum_args sum = { memory, BYTES, address_of(&out[2]) };
    struct poison_args poison = { memory, BYTES, 0x1122334455667788 };
    (void)state;

    memset(out, 0, 64);
    out[1] = UINT64_MAX;
    sim_test_launch(&cu, sim_test_kernel(&cu, "nvbw_fill"), &fill, stream);
    sim_test_launch(
        &cu, sim_test_kernel(&cu, "nvbw_compare"), &compare, stream);
    sim_test_launch(&cu, sim_test_kernel(&cu, "nvbw_sum"), &sum, stream);
    OK(cu.stream_synchronize(stream));
    assert_int_equal(out[0], 0);
    assert_true(out[1] == UINT64_MAX);
    assert_true(out[2] == pattern_sum(BYTES, KEY));
    *(uint8_t *)(uintptr_t)(memory + 4001) ^= 1;
    sim_test_launch(
        &cu, sim_test_kernel(&cu, "nvbw_compare"), &compare, stream);
    OK(cu.stream_synchronize(stream));
    assert_int_equal(out[0], 1);
    assert_int_equal(out[1], 4000);
    sim_test_launch(&cu, sim_test_kernel(&cu, "nvbw_poison"), &poison, stream);
    OK(cu.stream_synchronize(stream));
    assert_int_equal(*(uint8_t *)(uintptr_t)memory, 0x88);
    assert_int_equal(*(uint8_t *)(uintptr_t)(memory + BYTES - 1), 0x66);
}

/* The last test: the context is broken afterwards. */
static void a_stray_kernel_breaks_its_context(void **state)
{
    struct CUstream_st *stream = sim_test_stream(&cu);
    struct CUfunc_st *fill = sim_test_kernel(&cu, "nvbw_fill");
    (void)state;

    OK(cu.context_set(contexts[1]));
    const cu_address others = sim_test_device(&cu, MIB);
    struct fill_args args = { others, MIB, 1 };

    OK(cu.context_set(contexts[0]));
    OK(cu.peer_enable(contexts[1], 0));
    sim_test_launch(&cu, fill, &args, stream);
    OK(cu.stream_synchronize(stream));
    OK(cu.peer_disable(contexts[1]));
    sim_test_launch(&cu, fill, &args, stream);
    assert_int_equal(cu.stream_synchronize(stream), CU_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(cu.context_synchronize(), CU_ERROR_ILLEGAL_ADDRESS);
    cu_address memory = 0;

    assert_int_equal(cu.memory_alloc(&memory, MIB), CU_ERROR_ILLEGAL_ADDRESS);
    OK(cu.context_set(contexts[1]));
    OK(cu.memory_alloc(&memory, MIB));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(allocating_waits_for_the_gpu, set_up),
        cmocka_unit_test_setup(first_use_of_a_kernel_waits_for_the_gpu, set_up),
        cmocka_unit_test_setup(pageable_copies_block, set_up),
        cmocka_unit_test_setup(a_full_queue_waits_for_room, set_up),
        cmocka_unit_test_setup(what_deadlocks_there_deadlocks_here, set_up),
        cmocka_unit_test_setup(
            more_streams_than_connections_share_them, set_up),
        cmocka_unit_test_setup(ranges_are_checked, set_up),
        cmocka_unit_test_setup(memory_ends, set_up),
        cmocka_unit_test_setup(clocks_of_two_gpus_are_not_compared, set_up),
        cmocka_unit_test_setup(events_order_streams_of_two_gpus, set_up),
        cmocka_unit_test_setup(other_images_are_refused, set_up),
        cmocka_unit_test_setup(kernels_really_work, set_up),
        cmocka_unit_test_setup(a_stray_kernel_breaks_its_context, set_up),
    };

    sim_test_open(&cu, "laptop_x4", NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
