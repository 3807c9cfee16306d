/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "abi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct nvbw_plugin plugin_of(
    uint64_t magic, uint32_t minor, uint32_t min_host_minor)
{
    return (struct nvbw_plugin){ .size = sizeof(struct nvbw_plugin),
        .magic = magic,
        .abi_minor = minor,
        .min_host_minor = min_host_minor };
}

struct accept_case {
    uint64_t plugin_magic;
    uint32_t abi_minor, min_host_minor;
    uint32_t host_minor;
    const char *rule; /* in the message; NULL: accepted */
};

/* C6: every plugin that does not ask for a newer host. */
static void test_accept(void **state)
{
    static const struct accept_case cases[] = {
        { NVBW_MAGIC, 0, 0, 7, NULL },
        { NVBW_MAGIC, 9, 3, 7, NULL },
        { NVBW_MAGIC, 9, 7, 7, NULL },
        { NVBW_MAGIC, 9, 8, 7, "C6" },
        { NVBW_MAGIC, 2, 3, 7, "C6" },
        { UINT64_C(0x5446445742564e7e), 2, 0, 7, "C6" }, /* a draft */
        { 0, 0, 0, 0, "C2" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct accept_case *const at = &cases[i];
        const struct nvbw_plugin plugin =
            plugin_of(at->plugin_magic, at->abi_minor, at->min_host_minor);
        struct error err = { 0 };
        const int32_t status = abi_accept_on(&plugin, at->host_minor, &err);

        assert_int_equal(status, at->rule == NULL ? NVBW_OK : NVBW_E_INVALID);
        assert_true(at->rule == NULL || strstr(err.text, at->rule) == err.text);
    }
}

struct older {
    uint32_t size, flags;
    uint32_t one;
};
struct newer {
    uint32_t size, flags;
    uint32_t one, two;
};

/* C4: what an older struct lacks is zero, what a newer one adds is left. */
static void test_read_sizes(void **state)
{
    const struct older small = { sizeof small, 0, 11 };
    const struct newer large = { sizeof large, 0, 21, 22 };
    struct newer grown = { 9, 9, 9, 9 };
    struct older cut = { 9, 9, 9 };

    (void)state;
    assert_int_equal(
        abi_read(&small, "s", 0, &grown, sizeof grown, NULL), NVBW_OK);
    assert_int_equal(grown.one, 11);
    assert_int_equal(grown.two, 0);
    assert_int_equal(abi_read(&large, "s", 0, &cut, sizeof cut, NULL), NVBW_OK);
    assert_int_equal(cut.one, 21);
}

static void test_read_refuses(void **state)
{
    const struct older no_size = { 0, 0, 1 };
    const struct older huge = { ABI_STRUCT_LIMIT + 1, 0, 1 };
    const struct older flagged = { sizeof flagged, 6, 1 };
    struct older out;
    struct error err = { 0 };

    (void)state;
    assert_int_equal(
        abi_read(NULL, "it", 0, &out, sizeof out, &err), NVBW_E_INVALID);
    assert_int_equal(
        abi_read(&no_size, "it", 0, &out, sizeof out, &err), NVBW_E_INVALID);
    assert_int_equal(
        abi_read(&huge, "it", 0, &out, sizeof out, &err), NVBW_E_INVALID);
    assert_int_equal(
        abi_read(&flagged, "it", 2, &out, sizeof out, &err), NVBW_E_INVALID);
    assert_non_null(strstr(err.text, "0x4"));
    assert_int_equal(
        abi_read(&flagged, "it", 6, &out, sizeof out, &err), NVBW_OK);
}

static void test_count(void **state)
{
    static const char *endless[ABI_LIST_LIMIT + 2];
    static const char *const two[] = { "a", "b", NULL };
    uint32_t count = 9;

    (void)state;
    for (size_t i = 0; i <= ABI_LIST_LIMIT; i++) {
        endless[i] = "x";
    }
    assert_int_equal(abi_count(NULL, "list", &count, NULL), NVBW_OK);
    assert_int_equal(count, 0);
    assert_int_equal(abi_count(two, "list", &count, NULL), NVBW_OK);
    assert_int_equal(count, 2);
    assert_int_equal(abi_count(endless, "list", &count, NULL), NVBW_E_INVALID);
}

static void test_names(void **state)
{
    (void)state;
    assert_true(abi_is_name("host_to_device_2"));
    assert_false(abi_is_name(NULL));
    assert_false(abi_is_name(""));
    assert_false(abi_is_name("2host"));
    assert_false(abi_is_name("Host"));
    assert_false(abi_is_name("host-to"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accept),
        cmocka_unit_test(test_read_sizes),
        cmocka_unit_test(test_read_refuses),
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
