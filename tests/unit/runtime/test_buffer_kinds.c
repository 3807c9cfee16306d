/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct node_facts nodes[] = {
    { .number = 0, .cpus = "0-4095", .cpu_count = 1, .memory_bytes = 64 << 20 }
};
static const struct facts facts = { .nodes = nodes, .nodes_count = 1 };

static void rows_stand_at_their_numbers(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < BUFFER_KINDS_END; i++) {
        if (buffer_kinds[i] != NULL) {
            assert_int_equal(buffer_kinds[i]->memory, i);
            assert_non_null(buffer_kinds[i]->make);
            assert_non_null(buffer_kinds[i]->destroy);
        }
    }
    assert_null(buffer_kinds[NVBW_MEM_NONE]);
    assert_non_null(buffer_kinds[NVBW_MEM_PAGEABLE]);
    assert_non_null(buffer_kinds[NVBW_MEM_HUGE_PAGE]);
}

static const uint32_t host_kinds[] = { NVBW_MEM_PAGEABLE, NVBW_MEM_HUGE_PAGE };

static void host_kinds_give_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct buffer_kind *const kind = buffer_kinds[host_kinds[i]];
        const struct buffer_want want = {
            .facts = &facts, .place = 0, .executor = -1, .bytes = 12345
        };
        struct buffer buffer = { .in_use = 7 };

        assert_int_equal(kind->make(&want, &buffer, NULL), NVBW_OK);
        assert_ptr_equal(buffer.kind, kind);
        assert_int_equal(kind->on_host, 1);
        assert_int_equal(kind->gateable, 0);
        assert_int_equal(buffer.place, 0);
        assert_int_equal(buffer.executor, -1);
        assert_int_equal(buffer.device, 0);
        assert_true(buffer.bytes >= 12345);
        memset(buffer.host, 1, buffer.bytes);
        kind->destroy(&buffer);
        assert_null(buffer.host);
    }
}

static void more_than_the_node_has_is_skipped(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct buffer_want want = {
            .facts = &facts, .place = 0, .executor = -1, .bytes = (64 << 20) + 1
        };
        struct buffer buffer = { 0 };
        struct error err = { 0 };

        assert_int_equal(
            buffer_kinds[host_kinds[i]]->make(&want, &buffer, &err),
            NVBW_E_SKIPPED);
        assert_int_equal(err.code, NVBW_SKIP_MEMORY);
        assert_non_null(strstr(err.text, "node 0"));
        assert_null(buffer.host);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_stand_at_their_numbers),
        cmocka_unit_test(host_kinds_give_memory),
        cmocka_unit_test(more_than_the_node_has_is_skipped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
