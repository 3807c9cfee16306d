/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "needs.h"
#include "state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Two linked GPUs; each test spoils its copy. */
struct machine {
    struct facts facts;
    struct gpu_facts gpus[2];
    struct pair_facts pairs[2];
    struct node_facts nodes[1];
    struct testcase_schema testcase;
    uint32_t selected[2];
    uint32_t selected_count;
    struct needs_rules rules;
    struct arena arena;
    struct needs_answer answer;
};

static struct gpu_facts healthy_gpu(int32_t index)
{
    return (struct gpu_facts){
        .index = index,
        .device = index,
        .name = "NVIDIA H200",
        .compute = 90,
        .memory_bytes = UINT64_C(1) << 37,
        .free_bytes = UINT64_C(1) << 36,
        .multicast = 1,
        .fabric = 1,
    };
}

static void machine_init(struct machine *m)
{
    *m = (struct machine){
        .gpus = { healthy_gpu(0), healthy_gpu(1) },
        .pairs = { { 0, 1, 1, 18, "NV18" }, { 1, 0, 1, 18, "NV18" } },
        .nodes = { { .free_bytes = UINT64_C(1) << 30 } },
        .testcase = { .name = "t", .need_gpus = 1 },
        .selected = { 0, 1 },
        .selected_count = 2,
    };
    m->facts = (struct facts){
        .driver_version = "580.10",
        .cuda_version = 13000,
        .imex_channel = 1,
        .gpus = m->gpus,
        .gpus_count = 2,
        .pairs = m->pairs,
        .pairs_count = 2,
        .nodes = m->nodes,
        .nodes_count = 1,
    };
    arena_init(&m->arena, 1 << 20);
}

/* Asks, and wants this reason and these words in the sentence. */
static void expect(struct machine *m, const char *reason, const char *words)
{
    struct error err = { 0 };
    assert_int_equal(
        needs_check(&m->testcase, &m->facts, m->selected, m->selected_count,
            m->rules, &m->arena, &m->answer, &err),
        NVBW_OK);
    if (reason == NULL) {
        assert_int_equal(m->answer.state, STATE_NONE);
    } else {
        assert_int_equal(m->answer.state, STATE_SKIP);
        assert_string_equal(m->answer.reason, reason);
        assert_non_null(reason_find(STATE_SKIP, m->answer.reason));
        if (strstr(m->answer.message, words) == NULL) {
            fail_msg("\"%s\" lacks \"%s\"", m->answer.message, words);
        }
    }
    arena_clear(&m->arena);
}

static void runs_where_all_is_there(void **state)
{
    (void)state;
    struct machine m;
    machine_init(&m);
    m.testcase.need_features = NVBW_NEED_PEER | NVBW_NEED_NVLINK |
                               NVBW_NEED_MULTICAST | NVBW_NEED_FABRIC;
    m.rules.allow_multicast = 1;
    m.testcase.need_gpus = 2;
    m.testcase.need_compute = 90;
    m.testcase.need_driver = 13000;
    m.testcase.need_gpu_bytes = UINT64_C(1) << 36;
    m.testcase.need_pinned_bytes = UINT64_C(1) << 30;
    expect(&m, NULL, NULL);
}

static void needs_nothing_without_needs(void **state)
{
    (void)state;
    struct machine m;
    machine_init(&m);
    m.testcase.need_gpus = 0;
    m.facts.gpus_count = 0;
    m.selected_count = 0;
    m.facts.cuda_version = 0;
    m.facts.driver_trouble = "libcuda.so.1 is missing";
    expect(&m, NULL, NULL);
}

static void says_how_many_are_selected(void **state)
{
    (void)state;
    struct machine m;
    machine_init(&m);
    m.testcase.need_gpus = 2;
    m.selected_count = 1;
    expect(&m, "too_few_devices", "needs 2 GPUs, 1 is selected");
}

static void excluded_comes_before_no_device(void **state)
{
    (void)state;
    struct machine m;
    machine_init(&m);
    m.selected_count = 0;
    m.testcase.need_features = NVBW_NEED_MPI;
    expect(&m, "excluded", "the plan selects none of the 2");
}

static void no_device_names_the_drivers_trouble(void **state)
{
    (void)state;
    struct machine m;
    machine_init(&m);
    m.facts.gpus_count = 0;
    m.selected_count = 0;
    m.testcase.need_features = NVBW_NEED_MPI;
    m.facts.driver_trouble = "libcuda.so.1 is missing";
    expect(&m, "no_device", "libcuda.so.1 is missing");
    m.facts.driver_trouble = NULL;
    expect(&m, "no_device", "check nvidia-smi");
}

static void no_device_names_a_gpus_trouble(void **state)
{
    (void)state;
    struct machine m;
    machine_init(&m);
    m.gpus[0].trouble = "it fell off the bus";
    m.gpus[1].device = -1;
    m.selected_count = 0;
    expect(&m, "no_device", "GPU 0 (NVIDIA H200): it fell off the bus");
}

static void axes_imply_gpus(void **state)
{
    (void)state;
    struct metric_schema metric = { .name = "m", .cols = "gpu" };
    struct machine m;
    machine_init(&m);
    m.testcase.need_gpus = 0;
    m.testcase.metrics = &metric;
    m.testcase.metrics_count = 1;
    m.selected_count = 1;
    expect(&m, NULL, NULL);
    metric.rows = "gpu";
    expect(&m, NULL, NULL);
    metric.flags = NVBW_METRIC_PAIRS;
    expect(&m, "too_few_devices", "needs 2 GPUs, 1 is selected");
}

static void names_the_versions(void **state)
{
    (void)state;
    struct machine m;
    machine_init(&m);
    m.testcase.need_driver = 13010;
    expect(&m, "driver_too_old", "CUDA 13.1, this one (580.10) is for 13.0");
    machine_init(&m);
    m.testcase.need_compute = 100;
    expect(&m, "arch_too_old", "10.0 on every selected GPU, GPU 0");
    m.testcase.need_compute = 90;
    m.gpus[1].compute = 86;
    expect(&m, "arch_too_old", "GPU 1 (NVIDIA H200) has 8.6");
}

static void one_good_pair_is_enough(void **state)
{
    (void)state;
    struct machine m;
    machine_init(&m);
    m.testcase.need_features = NVBW_NEED_PEER;
    m.pairs[0].access = 0;
    expect(&m, NULL, NULL);
    m.pairs[1].access = 0;
    expect(&m, "no_peer_access", "none of the 2 selected GPUs");

    machine_init(&m);
    m.testcase.need_features = NVBW_NEED_NVLINK;
    m.pairs[0].nvlinks = 0;
    m.pairs[1].nvlinks = 0;
    expect(&m, "no_nvlink", "needs NVLink");
    m.selected_count = 1;
    expect(&m, "too_few_devices", "needs 2 GPUs, 1 is selected");
}

static void features_of_the_gpu(void **state)
{
    (void)state;
    struct machine m;
    machine_init(&m);
    m.testcase.need_features = NVBW_NEED_MULTICAST | NVBW_NEED_FABRIC;
    expect(&m, "multicast_disabled", "allow_multicast = true");
    m.rules.allow_multicast = 1;
    m.facts.imex_channel = 0;
    expect(&m, "no_imex_channel", "IMEX");
    m.gpus[1].fabric = 0;
    expect(&m, "no_fabric", "GPU 1");
    m.gpus[0].multicast = 0;
    expect(&m, "no_multicast", "GPU 0");
    m.rules.allow_multicast = 0;
    expect(&m, "no_multicast", "GPU 0");
}

static void mpi_is_said_never_guessed(void **state)
{
    (void)state;
    struct machine m;
    machine_init(&m);
    m.testcase.need_features = NVBW_NEED_MPI | NVBW_NEED_PEER;
    m.testcase.need_ranks = 4;
    expect(&m, "no_mpi", "with 4 ranks");
    m.rules.mpi = 1;
    m.selected_count = 1; /* the peer may be another rank's */
    expect(&m, NULL, NULL);
}

static void memory_is_told_in_numbers(void **state)
{
    (void)state;
    struct machine m;
    machine_init(&m);
    m.testcase.need_gpu_bytes = (UINT64_C(1) << 36) + 1;
    expect(&m, "memory", "65536.0 MiB of 131072.0 MiB");
    machine_init(&m);
    m.testcase.need_pinned_bytes = UINT64_C(1) << 31;
    expect(&m, "memory", "needs 2048.0 MiB of free host memory");
}

static void no_memory_is_an_error(void **state)
{
    (void)state;
    struct machine m;
    struct error err = { 0 };
    machine_init(&m);
    arena_init(&m.arena, 8);
    m.testcase.need_gpus = 3;
    assert_int_equal(needs_check(&m.testcase, &m.facts, m.selected,
                         m.selected_count, m.rules, &m.arena, &m.answer, &err),
        NVBW_E_SYSTEM);
    arena_clear(&m.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_where_all_is_there),
        cmocka_unit_test(needs_nothing_without_needs),
        cmocka_unit_test(says_how_many_are_selected),
        cmocka_unit_test(excluded_comes_before_no_device),
        cmocka_unit_test(no_device_names_the_drivers_trouble),
        cmocka_unit_test(no_device_names_a_gpus_trouble),
        cmocka_unit_test(axes_imply_gpus),
        cmocka_unit_test(names_the_versions),
        cmocka_unit_test(one_good_pair_is_enough),
        cmocka_unit_test(features_of_the_gpu),
        cmocka_unit_test(mpi_is_said_never_guessed),
        cmocka_unit_test(memory_is_told_in_numbers),
        cmocka_unit_test(no_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
