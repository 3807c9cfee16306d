/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Large buffers are described, not stored, and nobody can tell: filling,
 * copying, comparing and every odd access agree with real bytes. */
#include "sim_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define MIB   (UINT64_C(1) << 20)
#define SIZE  (32 * MIB)
#define HUGE  (UINT64_C(8) << 30)
#define KEY   UINT64_C(0x1234567890abcdef)
#define LEAST UINT64_C(512) /* MiB of resident memory that all of this takes */

static struct sim_driver cu;
static struct CUstream_st *stream;
static uint64_t *results;

static uint8_t *bytes_at(uint64_t address)
{
    return (uint8_t *)(uintptr_t)address;
}

static void fill(cu_address memory, uint64_t bytes, uint64_t key)
{
    struct fill_args args = { memory, bytes, key };

    sim_test_launch(&cu, sim_test_kernel(&cu, "nvbw_fill"), &args, stream);
    OK(cu.stream_synchronize(stream));
}

static void poison(cu_address memory, uint64_t bytes, uint64_t word)
{
    struct poison_args args = { memory, bytes, word };

    sim_test_launch(&cu, sim_test_kernel(&cu, "nvbw_poison"), &args, stream);
    OK(cu.stream_synchronize(stream));
}

static uint64_t compare(cu_address memory, uint64_t bytes, uint64_t key)
{
    struct compare_args args = { memory, bytes, key,
        (uint64_t)(uintptr_t)&results[0], (uint64_t)(uintptr_t)&results[1] };

    results[0] = 0;
    results[1] = UINT64_MAX;
    sim_test_launch(&cu, sim_test_kernel(&cu, "nvbw_compare"), &args, stream);
    OK(cu.stream_synchronize(stream));
    return results[0];
}

static uint64_t sum(cu_address memory, uint64_t bytes)
{
    struct sum_args args = { memory, bytes, (uint64_t)(uintptr_t)results };

    results[0] = 0;
    sim_test_launch(&cu, sim_test_kernel(&cu, "nvbw_sum"), &args, stream);
    OK(cu.stream_synchronize(stream));
    return results[0];
}

static void copy(cu_address dst, cu_address src, uint64_t bytes)
{
    OK(cu.copy_async(dst, src, bytes, stream));
    OK(cu.stream_synchronize(stream));
}

static void slices_arrive_whole(void **state)
{
    const cu_address a = sim_test_device(&cu, SIZE);
    const cu_address b = sim_test_device(&cu, SIZE);
    (void)state;

    fill(a, SIZE, KEY);
    poison(b, SIZE, 7);
    assert_true(compare(b, SIZE, KEY) == SIZE / 8);
    assert_true(results[1] == 0);
    copy(b, a, SIZE);
    assert_true(compare(b, SIZE, KEY) == 0);
    assert_true(sum(b, SIZE) == pattern_sum(SIZE, KEY));
    poison(b + SIZE / 2, 64, 7);
    assert_true(compare(b, SIZE, KEY) == 8);
    assert_true(results[1] == SIZE / 2);
    copy(b + 8 * MIB, a, 8 * MIB); /* the right bytes in a wrong place */
    assert_true(compare(b, SIZE, KEY) == MIB + 8);
    OK(cu.memory_free(a));
    OK(cu.memory_free(b));
}

/* Random operations on a described buffer and on plain memory. */
static void odd_accesses_agree_with_real_bytes(void **state)
{
    enum { ROUNDS = 300, SPAN = 200000 };
    const cu_address a = sim_test_device(&cu, SIZE);
    uint8_t *const twin = calloc(1, SIZE);
    (void)state;

    srand(20261129);
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t at = (uint64_t)rand() % (SIZE - SPAN) / 4 * 4;
        const uint64_t to = (uint64_t)rand() % (SIZE - SPAN) / 8 * 8;
        const uint64_t bytes = (uint64_t)rand() % SPAN + 1;

        switch (i % 6) {
        case 0:
            fill(a + at, bytes, (uint64_t)i);
            pattern_fill(twin + at, bytes, (uint64_t)i);
            break;
        case 1: /* pages to pages, so that descriptions are copied */
            copy(a + to / 4096 * 4096, a + at / 4096 * 4096, bytes);
            memmove(twin + to / 4096 * 4096, twin + at / 4096 * 4096, bytes);
            break;
        case 2:
            copy(a + to, a + at, bytes);
            memmove(twin + to, twin + at, bytes);
            break;
        case 3:
            OK(cu.set_words_async(a + at, 0x01020304, bytes / 4, stream));
            OK(cu.stream_synchronize(stream));
            for (uint64_t word = 0; word < bytes / 4; word++) {
                memcpy(twin + at + word * 4, &(uint32_t){ 0x01020304 }, 4);
            }
            break;
        case 4: /* by the CPU */
            *bytes_at(a + at) = (uint8_t)i;
            twin[at] = (uint8_t)i;
            break;
        default:
            assert_memory_equal(bytes_at(a + at), twin + at, 64);
            fill(a, SIZE / 2, (uint64_t)i);
            pattern_fill(twin, SIZE / 2, (uint64_t)i);
            break;
        }
    }
    assert_memory_equal(bytes_at(a), twin, SIZE);
    free(twin);
    OK(cu.memory_free(a));
}

static void host_memory_is_given_back_real(void **state)
{
    const cu_address device = sim_test_device(&cu, SIZE);
    void *const host = mmap(
        NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t *const expected = malloc(SIZE);
    const cu_address address = (uint64_t)(uintptr_t)host;
    (void)state;

    OK(cu.host_register(host, SIZE, CU_HOST_REGISTER_MAPPED));
    fill(address, SIZE, KEY);
    copy(device, address, SIZE);
    assert_true(compare(device, SIZE, KEY) == 0);
    *bytes_at(address + SIZE - 3) ^= 4; /* the CPU spoils one bit */
    copy(device, address, SIZE);
    assert_true(compare(device, SIZE, KEY) == 1);
    assert_true(results[1] == SIZE - 8);
    poison(address, SIZE, 1);
    fill(address, SIZE, KEY);
    OK(cu.host_unregister(host));
    pattern_fill(expected, SIZE, KEY);
    assert_memory_equal(host, expected, SIZE);
    munmap(host, SIZE);
    free(expected);
    OK(cu.memory_free(device));
}

static void pages_of_others_stay_real(void **state)
{
    void *const host = mmap(
        NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct pattern_fault fault;
    (void)state;

    OK(cu.host_register(host, SIZE, CU_HOST_REGISTER_MAPPED));
    fill((uint64_t)(uintptr_t)host, SIZE, KEY);
    assert_true(pattern_compare(host, SIZE, KEY, &fault) == 0);
    OK(cu.host_unregister(host));
    munmap(host, SIZE);
}

static void memory_is_not_used(void **state)
{
    const cu_address a = sim_test_device(&cu, HUGE / 2);
    const cu_address b = sim_test_device(&cu, HUGE / 2);
    struct rusage usage;
    (void)state;

    fill(a, HUGE / 2, KEY);
    copy(b, a, HUGE / 2);
    assert_true(compare(b, HUGE / 2, KEY) == 0);
    getrusage(RUSAGE_SELF, &usage);
    assert_true((uint64_t)usage.ru_maxrss < LEAST << 10);
    OK(cu.memory_free(a));
    OK(cu.memory_free(b));
}

static int set_up(void **state)
{
    (void)state;
    sim_test_open(&cu, "laptop_x4", NULL);
    sim_test_context(&cu, 0);
    stream = sim_test_stream(&cu);
    results = sim_test_host(&cu, 4096);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_arrive_whole),
        cmocka_unit_test(odd_accesses_agree_with_real_bytes),
        cmocka_unit_test(host_memory_is_given_back_real),
        cmocka_unit_test(pages_of_others_stay_real),
        cmocka_unit_test(memory_is_not_used),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
