/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "pci_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { EXPRESS_AT = 0x60, ACS_AT = 0x140 };

static unsigned char bytes[4096];

/* A PM capability, then PCI Express with payload 256 and requests of 512. */
static void make_space(void)
{
    memset(bytes, 0, sizeof bytes);
    bytes[0x06] = 0x10;
    bytes[0x34] = 0x40;
    bytes[0x40] = 0x01;
    bytes[0x41] = EXPRESS_AT;
    bytes[EXPRESS_AT] = 0x10;
    bytes[EXPRESS_AT + 8] = 1 << 5 | 1 << 4;
    bytes[EXPRESS_AT + 9] = 2 << 4;
    bytes[0x100] = 0x01;
    bytes[0x102] = ACS_AT << 4 & 0xf0;
    bytes[0x103] = ACS_AT >> 4;
    bytes[ACS_AT] = 0x0d;
}

static void test_settings(void **state)
{
    struct pci_settings settings;

    (void)state;
    make_space();
    pci_config_settings(bytes, 256, &settings);
    assert_int_equal(settings.max_payload, 256);
    assert_int_equal(settings.max_read_request, 512);
    assert_int_equal(settings.relaxed_ordering, 1);
    pci_config_settings(bytes, 64, &settings); /* what others than root see */
    assert_int_equal(settings.max_payload, 0);
    assert_int_equal(settings.relaxed_ordering, -1);
    pci_config_settings(bytes, 0, &settings);
    assert_int_equal(settings.max_payload, 0);
}

/* A list that bites its own tail ends all the same. */
static void test_circle(void **state)
{
    struct pci_settings settings;

    (void)state;
    make_space();
    bytes[0x41] = 0x40;
    pci_config_settings(bytes, sizeof bytes, &settings);
    assert_int_equal(settings.max_payload, 0);
    memset(bytes + 0x100, 0, 8);
    bytes[0x103] = 0x10;
    assert_int_equal(pci_config_redirects(bytes, sizeof bytes), 0);
}

static void test_redirects(void **state)
{
    (void)state;
    make_space();
    assert_int_equal(pci_config_redirects(bytes, sizeof bytes), 0);
    bytes[ACS_AT + 6] = 1 << 2;
    assert_int_equal(pci_config_redirects(bytes, sizeof bytes), 1);
    assert_int_equal(pci_config_redirects(bytes, 64), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_circle),
        cmocka_unit_test(test_redirects),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
