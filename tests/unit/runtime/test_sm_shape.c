/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "sm_shape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "facts.h"
#include "gpu.h"

enum { UNITS = 132, RESIDENT = 8 };
#define GIB (UINT64_C(1) << 30)

static struct gpu_facts gpus[2];
static const struct facts facts = { .gpus = gpus, .gpus_count = 2 };

static void paths(void **state)
{
    struct flow_record flow = { .src_memory = NVBW_MEM_DEVICE,
        .dst_memory = NVBW_MEM_DEVICE };

    (void)state;
    assert_int_equal(sm_path_of(&facts, &flow), SM_LOCAL);
    flow.dst_place = 1;
    assert_int_equal(sm_path_of(&facts, &flow), SM_PEER);
    flow.dst_memory = NVBW_MEM_PINNED;
    assert_int_equal(sm_path_of(&facts, &flow), SM_HOST);
    gpus[0].coherent_link = 1;
    assert_int_equal(sm_path_of(&facts, &flow), SM_PEER);
    gpus[0].coherent_link = 0;
    flow.dst_memory = NVBW_MEM_NONE;
    flow.dst_place = -1;
    assert_int_equal(sm_path_of(&facts, &flow), SM_LOCAL);
    flow.src_place = 1;
    assert_int_equal(sm_path_of(&facts, &flow), SM_PEER);
}

static void kernels(void **state)
{
    (void)state;
    assert_int_equal(
        sm_kernel_of(NVBW_BY_SM, NVBW_OP_COPY, SM_LOCAL, 1), SM_KERNEL_copy);
    assert_int_equal(sm_kernel_of(NVBW_BY_SM, NVBW_OP_COPY, SM_LOCAL, 2),
        SM_KERNEL_copy_wide);
    assert_int_equal(sm_kernel_of(NVBW_BY_SM, NVBW_OP_COPY, SM_HOST, 1),
        SM_KERNEL_copy_wide);
    assert_int_equal(
        sm_kernel_of(NVBW_BY_SM, NVBW_OP_READ, SM_LOCAL, 1), SM_KERNEL_read);
    assert_int_equal(
        sm_kernel_of(NVBW_BY_SM, NVBW_OP_WRITE, SM_PEER, 3), SM_KERNEL_write);
    assert_int_equal(
        sm_kernel_of(NVBW_BY_SM, NVBW_OP_SPLIT, SM_HOST, 1), SM_KERNEL_split);
    assert_int_equal(
        sm_kernel_of(NVBW_BY_TMA, NVBW_OP_COPY, SM_PEER, 1), SM_KERNEL_tma);
}

static uint64_t blocks(
    uint32_t kernel, enum sm_path path, uint64_t bytes, uint32_t sharing)
{
    return sm_blocks_of(kernel, path, bytes, RESIDENT, UNITS, sharing);
}

static void local_work_covers_everything_at_once(void **state)
{
    (void)state;
    assert_int_equal(blocks(SM_KERNEL_copy, SM_LOCAL, GIB, 1), GIB / 4096);
    assert_int_equal(
        blocks(SM_KERNEL_copy, SM_LOCAL, GIB + 1, 1), GIB / 4096 + 1);
    assert_int_equal(blocks(SM_KERNEL_read, SM_LOCAL, GIB, 1), GIB / 16384);
    assert_int_equal(
        blocks(SM_KERNEL_write, SM_LOCAL, UINT64_C(1) << 48, 1), 0x7fffffff);
    assert_int_equal(blocks(SM_KERNEL_copy, SM_LOCAL, 1, 1), 1);
    assert_int_equal(blocks(SM_KERNEL_tma, SM_LOCAL, GIB, 1), GIB / 2048);
}

static void links_get_as_much_as_they_hold(void **state)
{
    (void)state;
    assert_int_equal(blocks(SM_KERNEL_copy_wide, SM_HOST, GIB, 1), 34);
    assert_int_equal(blocks(SM_KERNEL_copy_wide, SM_PEER, GIB, 1), 264);
    assert_int_equal(blocks(SM_KERNEL_copy_wide, SM_PEER, 16385, 1), 2);
    assert_int_equal(blocks(SM_KERNEL_split, SM_HOST, GIB, 1), 264);
    assert_int_equal(blocks(SM_KERNEL_tma, SM_PEER, GIB, 1), 2112);
    assert_int_equal(blocks(SM_KERNEL_split, SM_HOST, 32769, 1), 2);
}

static void flows_share_the_resident_blocks(void **state)
{
    (void)state;
    assert_int_equal(blocks(SM_KERNEL_copy_wide, SM_LOCAL, GIB, 2), 528);
    assert_int_equal(blocks(SM_KERNEL_copy_wide, SM_PEER, GIB, 2), 264);
    assert_int_equal(blocks(SM_KERNEL_copy_wide, SM_PEER, GIB, 7), 150);
    assert_int_equal(blocks(SM_KERNEL_copy_wide, SM_PEER, GIB, 5000), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths),
        cmocka_unit_test(kernels),
        cmocka_unit_test(local_work_covers_everything_at_once),
        cmocka_unit_test(links_get_as_much_as_they_hold),
        cmocka_unit_test(flows_share_the_resident_blocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
