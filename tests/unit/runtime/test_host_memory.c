/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "host_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static const enum host_pages kinds[] = { HOST_PAGES_NORMAL, HOST_PAGES_ADVISED,
    HOST_PAGES_HUGE };
static const struct node_facts node0 = {
    .number = 0, .cpus = "0", .cpu_count = 1
};

static void all_pages_are_there(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct host_memory memory;
        struct error err = { 0 };
        const size_t page = (size_t)sysconf(_SC_PAGESIZE);

        assert_int_equal(
            host_memory_map(&node0, 100001, kinds[i], &memory, &err), 0);
        assert_true(memory.bytes >= 100001);
        assert_int_equal((uintptr_t)memory.address % page, 0);
        unsigned char there[1024];

        assert_true(memory.bytes / page <= sizeof there);
        assert_int_equal(mincore(memory.address, memory.bytes, there), 0);
        for (size_t n = 0; n < memory.bytes / page; n++) {
            assert_int_equal(there[n] & 1, 1);
        }
        memset(memory.address, 0xff, memory.bytes);
        host_memory_unmap(&memory);
        assert_null(memory.address);
    }
}

static void huge_memory_is_aligned(void **state)
{
    struct host_memory memory;

    (void)state;
    assert_int_equal(
        host_memory_map(NULL, 3 << 20, HOST_PAGES_ADVISED, &memory, NULL), 0);
    assert_int_equal((uintptr_t)memory.address % (2 << 20), 0);
    assert_int_equal(memory.bytes, 4 << 20);
    host_memory_unmap(&memory);
}

static void the_node_is_read_back(void **state)
{
    struct host_memory memory;

    (void)state;
    assert_int_equal(
        host_memory_map(&node0, 1 << 20, HOST_PAGES_NORMAL, &memory, NULL), 0);
    const int32_t seen = memory.node_seen;

    host_memory_unmap(&memory);
    if (seen == HOST_NODE_UNKNOWN) {
        skip();
    }
    assert_int_equal(seen, 0);
}

static void a_node_that_is_not_there_is_no_failure(void **state)
{
    static const struct node_facts nowhere = {
        .number = 1000, .cpus = "4095", .cpu_count = 1
    };
    struct host_memory memory;

    (void)state;
    assert_int_equal(
        host_memory_map(&nowhere, 4096, HOST_PAGES_NORMAL, &memory, NULL), 0);
    assert_int_not_equal(memory.node_seen, 1000);
    host_memory_unmap(&memory);
}

static void unpopulated_memory_is_unknown(void **state)
{
    (void)state;
    void *const memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_int_equal(host_memory_node(memory, 1 << 20), HOST_NODE_UNKNOWN);
    assert_int_equal(host_memory_node(memory, 0), HOST_NODE_UNKNOWN);
    munmap(memory, 1 << 20);
}

static void more_than_there_is_is_skipped(void **state)
{
    static const uint64_t sizes[] = { UINT64_C(1) << 55, UINT64_MAX };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct host_memory memory = { 0 };
        struct error err = { 0 };

        assert_int_equal(
            host_memory_map(&node0, sizes[i], HOST_PAGES_NORMAL, &memory, &err),
            NVBW_E_SKIPPED);
        assert_int_equal(err.code, NVBW_SKIP_MEMORY);
        assert_non_null(strstr(err.text, "buffer_size"));
        assert_null(memory.address);
    }
}

static void nodes_have_words(void **state)
{
    char room[16];

    (void)state;
    assert_string_equal(host_memory_node_text(3, room, sizeof room), "3");
    assert_string_equal(
        host_memory_node_text(HOST_NODE_MIXED, room, 16), "mixed");
    assert_string_equal(
        host_memory_node_text(HOST_NODE_UNKNOWN, room, 16), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pages_are_there),
        cmocka_unit_test(huge_memory_is_aligned),
        cmocka_unit_test(the_node_is_read_back),
        cmocka_unit_test(a_node_that_is_not_there_is_no_failure),
        cmocka_unit_test(unpopulated_memory_is_unknown),
        cmocka_unit_test(more_than_there_is_is_skipped),
        cmocka_unit_test(nodes_have_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
