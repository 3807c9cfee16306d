/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Shareable memory: mapped where asked, reached only by whom it is allowed to,
 * and seen by another process through its descriptor. */
#include "sim_test.h"

#include <sys/wait.h>
#include <unistd.h>

#define BYTES (UINT64_C(4) << 20)

static struct sim_driver cu;

static struct cu_allocation_prop prop_of(int gpu, unsigned int handle_types)
{
    return (struct cu_allocation_prop){ .type = CU_ALLOCATION_PINNED,
        .handle_types = handle_types,
        .location = { .type = CU_AT_DEVICE, .id = gpu } };
}

static cu_address map(cu_memory memory)
{
    cu_address address = 0;

    OK(cu.vmm_reserve(&address, BYTES, 0, 0, 0));
    OK(cu.vmm_map(address, BYTES, 0, memory, 0));
    return address;
}

static cu_result allow(cu_address address, int gpu)
{
    const struct cu_access access = { .location = { CU_AT_DEVICE, gpu },
        .flags = CU_ACCESS_READ_WRITE };

    return cu.vmm_access(address, BYTES, &access, 1);
}

static void access_is_per_gpu(void **state)
{
    const struct cu_allocation_prop prop = prop_of(1, CU_HANDLE_DESCRIPTOR);
    size_t granularity = 0;
    size_t before = 0;
    size_t after = 0;
    size_t total = 0;
    cu_memory memory = 0;
    (void)state;

    sim_test_context(&cu, 1);
    OK(cu.memory_info(&before, &total));
    OK(cu.vmm_granularity(&granularity, &prop, CU_GRANULARITY_MINIMUM));
    assert_int_equal(BYTES % granularity, 0);
    OK(cu.vmm_create(&memory, BYTES, &prop, 0));
    const cu_address address = map(memory);
    uint32_t *const host = sim_test_host(&cu, sizeof *host);

    *host = 41;
    assert_int_equal(cu.copy_down(address, host, 4), CU_ERROR_INVALID_VALUE);
    OK(allow(address, 1));
    OK(cu.copy_down(address, host, 4));
    assert_int_equal(*(uint32_t *)(uintptr_t)address, 41);
    OK(cu.vmm_unmap(address, BYTES));
    assert_int_equal(cu.copy_down(address, host, 4), CU_ERROR_INVALID_VALUE);
    OK(cu.vmm_unreserve(address, BYTES));
    OK(cu.vmm_release(memory));
    OK(cu.memory_info(&after, &total));
    assert_int_equal(before, after);
}

/* In the other process: writes into the memory behind the descriptor. */
static int import_and_write(int descriptor)
{
    cu_memory memory = 0;

    if (cu.vmm_import(&memory, (void *)(intptr_t)descriptor,
            CU_HANDLE_DESCRIPTOR) != CU_SUCCESS) {
        return 1;
    }
    const cu_address address = map(memory);

    return allow(address, 0) != CU_SUCCESS ||
           cu.set_words_async(address, 77, 3, NULL) != CU_SUCCESS ||
           cu.context_synchronize() != CU_SUCCESS;
}

static void another_process_reaches_it(void **state)
{
    const struct cu_allocation_prop prop = prop_of(0, CU_HANDLE_DESCRIPTOR);
    cu_memory memory = 0;
    int descriptor = -1;
    int status = 1;
    (void)state;

    sim_test_context(&cu, 0);
    OK(cu.vmm_create(&memory, BYTES, &prop, 0));
    const cu_address address = map(memory);

    OK(allow(address, 0));
    OK(cu.vmm_export(&descriptor, memory, CU_HANDLE_DESCRIPTOR, 0));
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        _exit(import_and_write(descriptor));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(((uint32_t *)(uintptr_t)address)[2], 77);
    assert_int_equal(((uint32_t *)(uintptr_t)address)[3], 0);
    close(descriptor);
}

static void fabric_handles_need_a_channel(void **state)
{
    const struct cu_allocation_prop prop = prop_of(0, CU_HANDLE_FABRIC);
    cu_memory memory = 0;
    int claims = 0;
    (void)state;

    OK(cu.device_attribute(&claims, CU_ATTR_HANDLE_TYPE_FABRIC_SUPPORTED, 0));
    assert_int_equal(claims, 1);
    assert_int_equal(
        cu.vmm_create(&memory, BYTES, &prop, 0), CU_ERROR_NOT_PERMITTED);
}

static void odd_sizes_and_strangers_are_refused(void **state)
{
    const struct cu_allocation_prop prop = prop_of(0, CU_HANDLE_NONE);
    const struct cu_allocation_prop nowhere = prop_of(9, CU_HANDLE_NONE);
    cu_memory memory = 0;
    cu_address address = 0;
    (void)state;

    assert_int_equal(
        cu.vmm_create(&memory, 4096, &prop, 0), CU_ERROR_INVALID_VALUE);
    assert_int_equal(
        cu.vmm_create(&memory, BYTES, &nowhere, 0), CU_ERROR_INVALID_DEVICE);
    assert_int_equal(
        cu.vmm_reserve(&address, 1, 0, 0, 0), CU_ERROR_INVALID_VALUE);
    assert_int_equal(cu.vmm_release(12345), CU_ERROR_INVALID_VALUE);
    assert_int_equal(
        cu.vmm_import(&memory, (void *)(intptr_t)1, CU_HANDLE_DESCRIPTOR),
        CU_ERROR_INVALID_VALUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(access_is_per_gpu),
        cmocka_unit_test(another_process_reaches_it),
        cmocka_unit_test(fabric_handles_need_a_channel),
        cmocka_unit_test(odd_sizes_and_strangers_are_refused),
    };

    sim_test_open(&cu, "h200_x2", NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
