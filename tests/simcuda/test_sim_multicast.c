/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Multicast objects: made, joined, bound and mapped in this order and no
 * other; what a kernel stores arrives in the memory of every GPU, and what was
 * made is given back. */
#include "sim_test.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES UINT64_C(0x400000)
enum { GPUS = 2 };

static struct sim_driver cu;

static struct cu_multicast_prop prop_of(unsigned int devices)
{
    return (struct cu_multicast_prop){
        .devices = devices, .size = BYTES, .handle_types = CU_HANDLE_DESCRIPTOR
    };
}

static cu_memory make_object(unsigned int devices)
{
    const struct cu_multicast_prop prop = prop_of(devices);
    cu_memory object = 0;

    OK(cu.multicast_create(&object, &prop));
    return object;
}

static cu_memory make_memory(int gpu, unsigned int handle_types)
{
    const struct cu_allocation_prop prop = { .type = CU_ALLOCATION_PINNED,
        .handle_types = handle_types,
        .location = { .type = CU_AT_DEVICE, .id = gpu } };
    cu_memory memory = 0;

    OK(cu.vmm_create(&memory, BYTES, &prop, 0));
    return memory;
}

static cu_address map(cu_memory memory, int gpu)
{
    const struct cu_access access = { .location = { CU_AT_DEVICE, gpu },
        .flags = CU_ACCESS_READ_WRITE };
    cu_address address = 0;

    OK(cu.vmm_reserve(&address, BYTES, 0, 0, 0));
    OK(cu.vmm_map(address, BYTES, 0, memory, 0));
    OK(cu.vmm_access(address, BYTES, &access, 1));
    return address;
}

static void unmap(cu_address address)
{
    OK(cu.vmm_unmap(address, BYTES));
    OK(cu.vmm_unreserve(address, BYTES));
}

static cu_result bind(cu_memory object, cu_memory memory)
{
    return cu.multicast_bind(object, 0, memory, 0, BYTES, 0);
}

static size_t free_bytes(void)
{
    size_t free = 0;
    size_t total = 0;

    OK(cu.memory_info(&free, &total));
    return free;
}

static void steps_have_an_order(void **state)
{
    cu_address address = 0;
    (void)state;

    sim_test_context(&cu, 0);
    const cu_memory object = make_object(GPUS);
    const cu_memory memory = make_memory(0, CU_HANDLE_DESCRIPTOR);

    assert_int_equal(bind(object, memory), CU_ERROR_ILLEGAL_STATE);
    OK(cu.multicast_add(object, 0));
    assert_int_equal(cu.multicast_add(object, 0), CU_ERROR_INVALID_VALUE);
    assert_int_equal(bind(object, memory), CU_ERROR_ILLEGAL_STATE);
    OK(cu.vmm_reserve(&address, BYTES, 0, 0, 0));
    assert_int_equal(
        cu.vmm_map(address, BYTES, 0, object, 0), CU_ERROR_ILLEGAL_STATE);
    OK(cu.multicast_add(object, 1));
    OK(bind(object, memory));
    assert_int_equal(bind(object, memory), CU_ERROR_INVALID_VALUE);
    OK(cu.vmm_map(address, BYTES, 0, object, 0));
    unmap(address);
    OK(cu.multicast_unbind(object, 0, 0, BYTES));
    assert_int_equal(
        cu.multicast_unbind(object, 0, 0, BYTES), CU_ERROR_INVALID_VALUE);
    OK(cu.vmm_release(memory));
    OK(cu.vmm_release(object));
}

static void what_does_not_fit_is_refused(void **state)
{
    struct cu_multicast_prop prop = prop_of(1);
    cu_memory object = 0;
    size_t step = 0;
    (void)state;

    sim_test_context(&cu, 0);
    OK(cu.multicast_granularity(&step, &prop, CU_MULTICAST_MINIMUM));
    prop.size = step + 4096;
    assert_int_equal(
        cu.multicast_create(&object, &prop), CU_ERROR_INVALID_VALUE);
    prop = prop_of(0);
    assert_int_equal(
        cu.multicast_create(&object, &prop), CU_ERROR_INVALID_VALUE);
    prop = prop_of(1);
    prop.handle_types = CU_HANDLE_FABRIC; /* there is no channel */
    assert_int_equal(
        cu.multicast_create(&object, &prop), CU_ERROR_NOT_PERMITTED);
    object = make_object(1);
    assert_int_equal(cu.multicast_add(object, GPUS), CU_ERROR_INVALID_DEVICE);
    assert_int_equal(cu.multicast_add(object + 1, 0), CU_ERROR_INVALID_VALUE);
    OK(cu.multicast_add(object, 0));
    assert_int_equal(cu.multicast_add(object, 1), CU_ERROR_INVALID_VALUE);

    const cu_memory own = make_memory(0, CU_HANDLE_NONE);
    const cu_memory far = make_memory(1, CU_HANDLE_DESCRIPTOR);
    const cu_memory right = make_memory(0, CU_HANDLE_DESCRIPTOR);

    assert_int_equal(bind(object, own), CU_ERROR_INVALID_VALUE);
    assert_int_equal(bind(object, far), CU_ERROR_INVALID_DEVICE);
    assert_int_equal(cu.multicast_bind(object, 0, right, 0, 4096, 0),
        CU_ERROR_INVALID_VALUE);
    assert_int_equal(cu.multicast_bind(object, step, right, 0, BYTES, 0),
        CU_ERROR_INVALID_VALUE);
    OK(bind(object, right));
    assert_int_equal(
        cu.multicast_unbind(object, 0, 0, step), CU_ERROR_INVALID_VALUE);
    OK(cu.vmm_release(own));
    OK(cu.vmm_release(far));
    OK(cu.vmm_release(right));
    OK(cu.vmm_release(object));
}

/* Fills `src` and stores it to all. */
static void store(cu_address to, cu_address src, uint64_t bytes, uint64_t key)
{
    struct CUstream_st *const stream = sim_test_stream(&cu);
    struct fill_args fill = { src, bytes, key };
    struct copy_args copy = { to, src, bytes, 0 };

    sim_test_launch(&cu, sim_test_kernel(&cu, "nvbw_fill"), &fill, stream);
    sim_test_launch(
        &cu, sim_test_kernel(&cu, "nvbw_copy_multicast"), &copy, stream);
    OK(cu.stream_synchronize(stream));
}

static uint64_t wrong_words(cu_address memory, uint64_t bytes, uint64_t key)
{
    struct pattern_fault fault;

    return pattern_compare(
        (const unsigned char *)(uintptr_t)memory, bytes, key, &fault);
}

/* In the other process: GPU 1 joins, and looks at what arrived. */
static int receive(int descriptor, int told, int tell)
{
    cu_memory object = 0;
    char go = 1;

    sim_test_context(&cu, 1);
    OK(cu.vmm_import(
        &object, (void *)(intptr_t)descriptor, CU_HANDLE_DESCRIPTOR));
    OK(cu.multicast_add(object, 1));

    const cu_memory memory = make_memory(1, CU_HANDLE_DESCRIPTOR);

    OK(bind(object, memory));
    const cu_address own = map(memory, 1);

    if (write(tell, &go, 1) != 1 || read(told, &go, 1) != 1) {
        return 1;
    }
    return wrong_words(own, BYTES, 7) != 0;
}

static void stores_arrive_everywhere(void **state)
{
    const size_t before = (sim_test_context(&cu, 0), free_bytes());
    int descriptor = -1;
    int to_child[2];
    int from_child[2];
    int status = 1;
    char go = 1;
    (void)state;

    const cu_memory object = make_object(GPUS);

    OK(cu.multicast_add(object, 0));
    OK(cu.vmm_export(&descriptor, object, CU_HANDLE_DESCRIPTOR, 0));
    assert_int_equal(pipe(to_child), 0);
    assert_int_equal(pipe(from_child), 0);

    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        _exit(receive(descriptor, to_child[0], from_child[1]));
    }
    close(from_child[1]);
    assert_int_equal(read(from_child[0], &go, 1), 1);

    const cu_memory memory = make_memory(0, CU_HANDLE_DESCRIPTOR);

    OK(bind(object, memory));
    const cu_address own = map(memory, 0);
    const cu_address all = map(object, 0);
    const cu_address src = sim_test_device(&cu, BYTES);

    store(all, src, BYTES, 7);
    assert_int_equal(wrong_words(own, BYTES, 7), 0);
    assert_int_equal(write(to_child[1], &go, 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    /* An object is no memory: there is nothing to read in it. */
    assert_int_equal(
        cu.set_words_async(all, 1, 1, NULL), CU_ERROR_INVALID_VALUE);
    OK(cu.memory_free(src));
    unmap(all);
    unmap(own);
    OK(cu.multicast_unbind(object, 0, 0, BYTES));
    OK(cu.vmm_release(memory));
    OK(cu.vmm_release(object));
    close(descriptor);
    assert_int_equal(free_bytes(), before);
}

/* A rank that stores before all have bound is to be noticed. */
static void stores_before_the_last_bind_break(void **state)
{
    struct copy_args copy = { 0, 0, 4096, 0 };
    (void)state;

    sim_test_context(&cu, 0);
    struct CUstream_st *const stream = sim_test_stream(&cu);
    struct CUfunc_st *const kernel =
        sim_test_kernel(&cu, "nvbw_copy_multicast");
    const cu_memory object = make_object(GPUS);
    const cu_memory memory = make_memory(0, CU_HANDLE_DESCRIPTOR);

    OK(cu.multicast_add(object, 0));
    OK(cu.multicast_add(object, 1));
    OK(bind(object, memory));
    copy.dst = map(object, 0);
    copy.src = sim_test_device(&cu, 4096);
    void *parameters[] = { &copy };

    cu.launch(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL);
    assert_int_equal(cu.stream_synchronize(stream), CU_ERROR_ILLEGAL_ADDRESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_have_an_order),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(stores_arrive_everywhere),
        cmocka_unit_test(stores_before_the_last_bind_break),
    };

    sim_test_open(&cu, "h200_x2", NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
