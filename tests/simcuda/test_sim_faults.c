/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Faults are parsed whole or refused, and found by number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "sim_decline.h"

static struct faults parse(const char *text)
{
    struct faults faults = { .count = 0 };
    char trouble[256] = "";

    if (faults_parse(text, &faults, trouble, sizeof trouble) != 0) {
        fail_msg("%s", trouble);
    }
    return faults;
}

static void calls_are_found_by_number(void **state)
{
    const struct faults faults = parse(
        "cuMemAlloc:3=2; cuMemFree:2+=700,cuInit:hang, cuEventQuery:4=hang,"
        "nvmlInit_v2:2=late,nvmlInit_v2:3=kill");
    (void)state;

    assert_null(faults_find(&faults, FAULT_CALL, "cuMemAlloc", 2));
    assert_int_equal(
        faults_find(&faults, FAULT_CALL, "cuMemAlloc", 3)->value, 2);
    assert_null(faults_find(&faults, FAULT_CALL, "cuMemAlloc", 4));
    assert_null(faults_find(&faults, FAULT_CALL, "cuMemFree", 1));
    assert_int_equal(
        faults_find(&faults, FAULT_CALL, "cuMemFree", 9)->value, 700);
    assert_non_null(faults_find(&faults, FAULT_CALL_HANG, "cuInit", 1));
    assert_null(faults_find(&faults, FAULT_CALL_HANG, "cuInit", 2));
    assert_non_null(faults_find(&faults, FAULT_CALL_HANG, "cuEventQuery", 4));
    assert_non_null(faults_find(&faults, FAULT_CALL_LATE, "nvmlInit_v2", 2));
    assert_null(faults_find(&faults, FAULT_CALL, "nvmlInit_v2", 2));
    assert_non_null(faults_find(&faults, FAULT_CALL_KILL, "nvmlInit_v2", 3));
    assert_null(faults_find(&faults, FAULT_CALL_KILL, "nvmlInit_v2", 4));
}

static void deeds_are_found_by_number(void **state)
{
    const struct faults faults =
        parse("copy:flip=5,copy:skip=6,peer:drop,stream:hang=7,"
              "kernel:fail=2,gpu_lost=1@20,slow=3,alloc_above=2GiB");
    (void)state;

    assert_int_equal(faults.count, 8);
    assert_non_null(faults_find(&faults, FAULT_COPY_FLIP, NULL, 5));
    assert_null(faults_find(&faults, FAULT_COPY_FLIP, NULL, 6));
    assert_non_null(faults_find(&faults, FAULT_COPY_SKIP, NULL, 6));
    assert_non_null(faults_find(&faults, FAULT_PEER_DROP, NULL, 1));
    assert_non_null(faults_find(&faults, FAULT_STREAM_HANG, NULL, 7));
    assert_non_null(faults_find(&faults, FAULT_KERNEL_FAIL, NULL, 2));
    assert_int_equal(faults_find(&faults, FAULT_GPU_LOST, NULL, 21)->value, 1);
    assert_int_equal(faults_find(&faults, FAULT_GPU_SLOW, NULL, 1)->value, 3);
    assert_true(faults.list[7].number == UINT64_C(2) << 30);
}

static void a_gpu_declines_once_by_each_fault(void **state)
{
    const struct faults faults =
        parse("pcie=2@5,nvlink=2@6,slow=3,busy=2@7,ecc=2@8");
    struct profile_gpu gpu = { .pcie = { .width = 16, .down = 64 },
        .nvlink = { .active = 18, .in = 400 } };
    uint32_t declined = 0;
    (void)state;

    gpu.classes[TRANSFER_H2D].rate = 60;
    gpu.classes[TRANSFER_PEER_WRITE].rate = 380;
    assert_false(decline_gpu(&faults, 2, 4, &declined, &gpu));
    assert_true(decline_gpu(&faults, 2, 5, &declined, &gpu));
    assert_false(decline_gpu(&faults, 2, 5, &declined, &gpu));
    assert_int_equal(gpu.pcie.width, 8);
    assert_true(gpu.pcie.down == 32 && gpu.classes[TRANSFER_H2D].rate == 30);
    assert_int_equal(gpu.nvlink.active, 18);
    assert_string_equal(gpu.process, "");
    assert_true(decline_gpu(&faults, 2, 9, &declined, &gpu));
    assert_int_equal(gpu.nvlink.active, 9);
    assert_true(gpu.nvlink.in == 200 && gpu.pcie.down == 32);
    assert_true(gpu.classes[TRANSFER_PEER_WRITE].rate == 380);
    assert_string_equal(gpu.process, "1 init");
    assert_int_equal(faults_of_gpu(&faults, FAULT_GPU_ECC, 2, 7), 0);
    assert_int_equal(faults_of_gpu(&faults, FAULT_GPU_ECC, 2, 9), 2);
    assert_int_equal(faults_of_gpu(&faults, FAULT_GPU_ECC, 1, 9), 0);
    assert_false(decline_gpu(&faults, 0, 9, &declined, &gpu));
}

static void nothing_is_guessed(void **state)
{
    static const char *const wrong[] = { "cuInit", "cuInit:", "cuInit:x",
        "cuInit:0=2", "cuInit:1=", "cuInit:1=0", "cuInit:1=2x", ":1=2",
        "cuInit:-1=2", "copy:flip=0", "copy:flip=", "peer:drop=1", "gpu_lost=x",
        "gpu_lost=1@", "alloc_above=1GB", "alloc_above=99999999999GiB",
        "cuInit:99999999999999999999=1", "cuInit:1=99999999999" };
    (void)state;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct faults faults = { .count = 0 };
        char trouble[256] = "";

        assert_int_equal(
            faults_parse(wrong[i], &faults, trouble, sizeof trouble), -1);
        assert_non_null(strstr(trouble, wrong[i]));
        assert_int_equal(faults.count, 0);
    }
}

static void empty_texts_have_no_faults(void **state)
{
    (void)state;
    assert_int_equal(parse("").count, 0);
    assert_int_equal(parse(" ;, \n").count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_found_by_number),
        cmocka_unit_test(deeds_are_found_by_number),
        cmocka_unit_test(a_gpu_declines_once_by_each_fault),
        cmocka_unit_test(nothing_is_guessed),
        cmocka_unit_test(empty_texts_have_no_faults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
