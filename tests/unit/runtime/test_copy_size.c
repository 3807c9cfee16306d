/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "copy_size.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MIB = 1 << 20 };

static struct gpu_facts gpus[] = {
    { .memory_bytes = UINT64_C(140) << 30 },
    { .memory_bytes = UINT64_C(140) << 30 },
};
static struct pair_facts pairs[] = {
    { .from = 0, .to = 1, .nvlinks = 18 },
    { .from = 1, .to = 0, .nvlinks = 0 },
};
static struct node_facts nodes[] = {
    { .memory_bytes = UINT64_C(512) << 30 },
};
static struct facts facts = { .gpus = gpus,
    .gpus_count = 2,
    .pairs = pairs,
    .pairs_count = 2,
    .nodes = nodes,
    .nodes_count = 1 };
static const struct measure_params adaptive = { 0 };

static struct flow_record make_flow(
    uint32_t src, int32_t src_place, uint32_t dst, int32_t dst_place)
{
    const struct flow_record flow = { .initiator = NVBW_BY_CE,
        .operation = NVBW_OP_COPY,
        .src_memory = src,
        .src_place = src_place,
        .dst_memory = dst,
        .dst_place = dst_place };

    return flow;
}

static void the_path_decides_where_the_plan_does_not(void **state)
{
    const struct flow_record host =
        make_flow(NVBW_MEM_PINNED, 0, NVBW_MEM_DEVICE, 0);
    const struct flow_record linked =
        make_flow(NVBW_MEM_DEVICE, 0, NVBW_MEM_DEVICE, 1);
    const struct flow_record bus =
        make_flow(NVBW_MEM_DEVICE, 1, NVBW_MEM_DEVICE, 0);
    const struct flow_record local =
        make_flow(NVBW_MEM_DEVICE, 0, NVBW_MEM_DEVICE, 0);
    const struct flow_record read =
        make_flow(NVBW_MEM_DEVICE, 0, NVBW_MEM_NONE, -1);

    (void)state;
    assert_int_equal(copy_size(&facts, &host, &adaptive), 128 * MIB);
    assert_int_equal(copy_size(&facts, &linked, &adaptive), 1024 * MIB);
    assert_int_equal(copy_size(&facts, &bus, &adaptive), 128 * MIB);
    assert_int_equal(
        copy_size(&facts, &local, &adaptive), UINT64_C(4096) * MIB);
    assert_int_equal(copy_size(&facts, &read, &adaptive), 1024 * MIB);
}

static void both_ways_at_once_have_a_copy_each(void **state)
{
    struct flow_record split =
        make_flow(NVBW_MEM_PINNED, 0, NVBW_MEM_DEVICE, 0);

    (void)state;
    split.operation = NVBW_OP_SPLIT;
    assert_int_equal(copy_size(&facts, &split, &adaptive), 256 * MIB);
}

static void the_plan_is_obeyed(void **state)
{
    const struct flow_record flow =
        make_flow(NVBW_MEM_DEVICE, 0, NVBW_MEM_DEVICE, 1);
    const struct measure_params given[] = {
        { .buffer_bytes = 4097 },
        { .buffer_bytes = 512 * MIB },
        { .buffer_bytes = 4097, .fixed = 1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        assert_int_equal(
            copy_size(&facts, &flow, &given[i]), given[i].buffer_bytes);
    }
}

static void fixed_mode_has_one_size(void **state)
{
    struct flow_record flow = make_flow(NVBW_MEM_DEVICE, 0, NVBW_MEM_DEVICE, 1);
    const struct measure_params fixed = { .fixed = 1 };

    (void)state;
    assert_int_equal(copy_size(&facts, &flow, &fixed), 512 * MIB);
    flow.initiator = NVBW_BY_CPU;
    assert_int_equal(copy_size(&facts, &flow, &fixed), 512 * MIB);
}

/* Small caches, large ones, and those that a VM does not tell of. */
static void cpus_outrun_their_cache(void **state)
{
    static const struct {
        uint64_t cache_mib, memory_mib, want_mib;
    } cases[] = {
        { 32, 512 << 10, 512 },
        { 1152, 512 << 10, 4608 },
        { 0, 512 << 10, 1536 },
        { 0, 12 << 10, 1024 },
        { 0, 2 << 10, 512 },
    };
    struct flow_record flow =
        make_flow(NVBW_MEM_PAGEABLE, 0, NVBW_MEM_PAGEABLE, 0);

    (void)state;
    flow.initiator = NVBW_BY_CPU;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nodes[0].cache_bytes = cases[i].cache_mib * MIB;
        nodes[0].memory_bytes = cases[i].memory_mib * MIB;
        assert_int_equal(
            copy_size(&facts, &flow, &adaptive), cases[i].want_mib * MIB);
    }
    facts.simulated = 1;
    assert_int_equal(copy_size(&facts, &flow, &adaptive), 512 * MIB);
    facts.simulated = 0;
}

static void small_gpus_get_small_copies(void **state)
{
    const struct flow_record local =
        make_flow(NVBW_MEM_DEVICE, 0, NVBW_MEM_DEVICE, 0);

    (void)state;
    gpus[0].memory_bytes = UINT64_C(6) << 30;
    assert_int_equal(copy_size(&facts, &local, &adaptive), 256 * MIB);
    gpus[0].memory_bytes = UINT64_C(140) << 30;
}

static void reads_outgrow_the_cache(void **state)
{
    struct flow_record read = make_flow(NVBW_MEM_DEVICE, 0, NVBW_MEM_NONE, -1);

    (void)state;
    read.operation = NVBW_OP_READ;
    gpus[0].l2_bytes = 60 * (uint64_t)MIB;
    assert_int_equal(copy_size(&facts, &read, &adaptive), UINT64_C(8960) * MIB);
    gpus[0].memory_bytes = UINT64_C(190) << 30;
    assert_int_equal(
        copy_size(&facts, &read, &adaptive), UINT64_C(12000) * MIB);
    gpus[0].memory_bytes = UINT64_C(140) << 30;
    read.bytes = UINT64_C(3000) * MIB;
    assert_int_equal(copy_count_least(&facts, &read), 4);
    read.bytes = 1024 * MIB;
    assert_int_equal(copy_count_least(&facts, &read), 12);
    read.bytes = 16 * MIB;
    assert_int_equal(copy_count_least(&facts, &read), 16);
    read.operation = NVBW_OP_COPY;
    assert_int_equal(copy_count_least(&facts, &read), 4);
    gpus[0].l2_bytes = 0;
}

static void host_memory_outgrows_the_cache_over_samples(void **state)
{
    struct flow_record down = make_flow(NVBW_MEM_PINNED, 0, NVBW_MEM_DEVICE, 0);
    const struct flow_record local =
        make_flow(NVBW_MEM_DEVICE, 0, NVBW_MEM_DEVICE, 0);
    const uint64_t before = nodes[0].cache_bytes;

    (void)state;
    nodes[0].cache_bytes = 300 * (uint64_t)MIB;
    down.bytes = 128 * MIB;
    assert_int_equal(copy_count_least(&facts, &down), 2);
    assert_int_equal(copy_slices_least(&facts, &down), 10);
    down.bytes = MIB;
    assert_int_equal(copy_slices_least(&facts, &down), 16);
    assert_int_equal(copy_count_least(&facts, &down), 8);
    down.bytes = 1;
    assert_int_equal(copy_count_least(&facts, &down), 8 * MIB);
    nodes[0].cache_bytes = 0;
    assert_int_equal(copy_slices_least(&facts, &down), 0);
    nodes[0].cache_bytes = before;
    assert_int_equal(copy_slices_least(&facts, &local), 0);
}

static void simulated_copies_are_small_and_few(void **state)
{
    struct facts simulated = facts;
    struct flow_record local =
        make_flow(NVBW_MEM_DEVICE, 0, NVBW_MEM_DEVICE, 0);

    (void)state;
    assert_int_equal(copy_count_most(&facts, &local, 200), 200);
    simulated.simulated = 1;
    local.bytes = copy_size(&simulated, &local, &adaptive);
    assert_int_equal(local.bytes, 256 * MIB);
    assert_int_equal(copy_count_most(&simulated, &local, 200), 2);
    local.bytes = 64 * MIB;
    assert_int_equal(copy_count_most(&simulated, &local, 200), 8);
    assert_int_equal(copy_count_most(&simulated, &local, 5), 5);
    local.bytes = 1024 * MIB;
    assert_int_equal(copy_count_most(&simulated, &local, 200), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_path_decides_where_the_plan_does_not),
        cmocka_unit_test(both_ways_at_once_have_a_copy_each),
        cmocka_unit_test(the_plan_is_obeyed),
        cmocka_unit_test(fixed_mode_has_one_size),
        cmocka_unit_test(cpus_outrun_their_cache),
        cmocka_unit_test(small_gpus_get_small_copies),
        cmocka_unit_test(reads_outgrow_the_cache),
        cmocka_unit_test(host_memory_outgrows_the_cache_over_samples),
        cmocka_unit_test(simulated_copies_are_small_and_few),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
