/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The simulated NVML tells what the profile says, and what is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "nvml_abi.h"

#define MEMBER(member, symbol, parameters) nvml_result(*member) parameters;
static struct {
    NVML_FUNCTIONS(MEMBER)
} nvml;
#undef MEMBER

static struct nvmlDevice_st *devices[8];

static int open_library(void **state)
{
    void *library = dlopen(NVML_SIM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    unsigned int count = 0;
    (void)state;

    assert_non_null(library);
    void *address;
#define LOOK_UP(member_, symbol_, parameters_)                                 \
    address = dlsym(library, #symbol_);                                        \
    assert_non_null(address);                                                  \
    memcpy(&nvml.member_, &address, sizeof address);
    NVML_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    assert_int_equal(nvml.device_count(&count), 1); /* not initialised */
    assert_int_equal(nvml.init(), NVML_DONE);
    assert_int_equal(nvml.device_count(&count), NVML_DONE);
    assert_int_equal(count, 8);
    for (unsigned int i = 0; i < 8; i++) {
        assert_int_equal(nvml.device_at(i, &devices[i]), NVML_DONE);
    }
    assert_int_equal(nvml.device_at(8, &devices[0]), NVML_INVALID_ARGUMENT);
    return 0;
}

static void names_and_numbers(void **state)
{
    char text[NVML_TEXT_BYTES] = "";
    struct nvml_pci pci;
    struct nvml_memory memory;
    unsigned int number = 0;
    (void)state;

    assert_int_equal(
        nvml.device_name(devices[0], text, sizeof text), NVML_DONE);
    assert_string_equal(text, "NVIDIA H200");
    assert_int_equal(
        nvml.device_name(devices[0], text, 3), NVML_INSUFFICIENT_SIZE);
    assert_int_equal(nvml.device_pci(devices[3], &pci), NVML_DONE);
    assert_string_equal(pci.bus_id, "00000000:5D:00.0");
    assert_int_equal(pci.bus, 0x5d);
    assert_int_equal(nvml.memory(devices[0], &memory), NVML_DONE);
    assert_true(memory.total == UINT64_C(143771) << 20);
    assert_int_equal(nvml.pcie_width(devices[5], &number), NVML_DONE);
    assert_int_equal(number, 8);
    assert_int_equal(nvml.pcie_max_width(devices[5], &number), NVML_DONE);
    assert_int_equal(number, 16);
}

static void links(void **state)
{
    unsigned int number = 0;
    struct nvml_field fields[] = { { .field = NVML_FIELD_LINK_COUNT },
        { .field = NVML_FIELD_LINK_GET_SPEED }, { .field = 99999 } };
    (void)state;

    assert_int_equal(nvml.link_state(devices[0], 17, &number), NVML_DONE);
    assert_int_equal(number, NVML_LINK_ACTIVE);
    assert_int_equal(
        nvml.link_state(devices[0], 18, &number), NVML_INVALID_ARGUMENT);
    assert_int_equal(nvml.link_remote_type(devices[0], 0, &number), NVML_DONE);
    assert_int_equal(number, NVML_REMOTE_SWITCH);
    assert_int_equal(nvml.fields(devices[0], 3, fields), NVML_DONE);
    assert_int_equal(fields[0].value.uint, 18);
    assert_int_equal(fields[1].value.uint, 26562);
    assert_int_equal(fields[2].result, NVML_NOT_SUPPORTED);
    assert_int_equal(
        nvml.common_ancestor(devices[0], devices[3], &number), NVML_DONE);
    assert_int_equal(number, NVML_PATH_NODE);
    assert_int_equal(
        nvml.common_ancestor(devices[0], devices[4], &number), NVML_DONE);
    assert_int_equal(number, NVML_PATH_SYSTEM);
}

static void faults_strike(void **state)
{
    char text[NVML_TEXT_BYTES] = "";
    (void)state;

    assert_int_equal(
        nvml.device_serial(devices[0], text, sizeof text), NVML_NOT_SUPPORTED);
    assert_int_equal(
        nvml.device_name(devices[7], text, sizeof text), NVML_GPU_IS_LOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_numbers),
        cmocka_unit_test(links),
        cmocka_unit_test(faults_strike),
    };

    setenv("NVBW_SIM_PROFILE", "hgx_h200_x8_link_x8", 1);
    setenv("NVBW_SIM_FAULTS", "nvmlDeviceGetSerial:1+=3,gpu_lost=7", 1);
    return cmocka_run_group_tests(tests, open_library, NULL);
}
