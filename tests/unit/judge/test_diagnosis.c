/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What simulated machines do not show (tests/cli/test_diagnosis.py has these):
 * evidence that only hardware or a container leaves. */
#include "diagnosis.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sample_run.h"

static struct arena arena;
static struct evidence run;
static struct verdicts verdicts;

static int start(void **state)
{
    (void)state;
    arena_init(&arena, 64 << 20);
    sample_run(&run, &arena);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_clear(&arena);
    return 0;
}

/* Judges, and wants this one finding, or none for NULL. */
static const struct finding *diagnose(const char *id)
{
    struct error err = { 0 };

    if (judge_run(&run, &arena, &verdicts, &err) < 0) {
        fail_msg("%s", err.text);
    }
    if (verdicts.findings_count != (id == NULL ? 0 : 1)) {
        fail_msg("%u findings, the first: %s", verdicts.findings_count,
            verdicts.findings_count == 0 ? "" : verdicts.findings[0].what);
    }
    if (id == NULL) {
        return NULL;
    }
    assert_string_equal(verdicts.findings[0].id, id);
    assert_int_equal(verdicts.findings[0].exit_code, EXIT_PASSED);
    return &verdicts.findings[0];
}

static struct record *record_at(uint32_t unit, uint32_t row, uint32_t col)
{
    for (uint32_t i = 0; i < run.records_count; i++) {
        struct record *const record = &run.records[i];

        if (record->unit == unit && record->row == row && record->col == col) {
            return record;
        }
    }
    fail_msg("no record of %u %u %u", unit, row, col);
    return NULL;
}

static void set_figure(struct record *record, double figure)
{
    for (uint32_t i = 0; i < record->samples_count; i++) {
        record->samples[i] = figure;
    }
}

static void every_rule_has_all_its_words(void **state)
{
    uint32_t count = 0;

    (void)state;
    for (size_t i = 0; diagnosis_families[i] != NULL; i++) {
        const struct diagnosis_family *const family = diagnosis_families[i];

        for (uint32_t j = 0; j < family->count; j++) {
            const struct diagnosis_rule *const rule = &family->rules[j];

            assert_non_null(rule->id);
            assert_non_null(rule->looks_at);
            assert_non_null(rule->look);
            assert_non_null(rule->sentence);
            assert_non_null(rule->action);
            assert_non_null(rule->next);
            count++;
        }
    }
    assert_true(count >= 20);
}

static void a_healthy_run_has_no_finding(void **state)
{
    (void)state;
    diagnose(NULL);
}

/* Facts of an idle link or of a guest may be lower than what was measured. */
static void a_figure_refutes_a_narrow_link(void **state)
{
    (void)state;
    run.facts.gpus[1].pcie.width = 8;
    diagnose(NULL);
    set_figure(record_at(SAMPLE_H2D, 0, 1), 27e9);

    const struct finding *const finding = diagnose("pcie_width");

    assert_int_equal(finding->gpu, 1);
    assert_string_equal(finding->family, "physical link");
    assert_non_null(strstr(finding->what, "GPU 1 runs in too narrow"));
    assert_non_null(strstr(finding->what, "width x8 of x16"));
    assert_non_null(strstr(finding->what, "host_to_device_memcpy_ce"));
}

static void memory_of_another_node_is_told(void **state)
{
    (void)state;
    record_at(SAMPLE_H2D, 0, 0)->flows[0].node_seen = "0";
    record_at(SAMPLE_H2D, 0, 1)->flows[0].node_seen = "unknown";
    diagnose(NULL);
    record_at(SAMPLE_H2D, 0, 1)->flows[0].node_seen = "1";
    assert_int_equal(diagnose("memory_placed")->gpu, 1);
    /* A plan may ask for that node. */
    run.facts.gpus[1].near_node = 1;
    diagnose(NULL);
}

static void pageable_memory_is_told_where_it_fails(void **state)
{
    struct record *const record = record_at(SAMPLE_H2D, 0, 1);

    (void)state;
    record->flows[0].src_memory = NVBW_MEM_PAGEABLE;
    set_figure(record, 10e9);
    diagnose("memory_kind");
    run.plan.limits_count = 0;
    diagnose(NULL);
}

static void small_copies_are_told_where_they_fail(void **state)
{
    struct record *const record = record_at(SAMPLE_H2D, 0, 1);

    (void)state;
    record->copy_bytes = 65536;
    set_figure(record, 10e9);
    assert_non_null(strstr(diagnose("small_copies")->what, "64 KiB"));
    run.plan.limits_count = 0;
    diagnose(NULL);
}

static void a_throttled_cell_is_told(void **state)
{
    (void)state;
    sample_state(&run, &arena, SAMPLE_H2D, 0, 1, STATE_INVALID, "throttled",
        "hardware slowdown for 2 s");
    assert_non_null(strstr(diagnose("throttled")->what, "hardware slowdown"));
}

static void throttle(
    uint32_t unit, uint32_t row, uint32_t col, uint32_t *gpus, uint32_t count)
{
    sample_state(&run, &arena, unit, row, col, STATE_INVALID, "throttled",
        "hardware slowdown");
    run.records[run.records_count - 1].gpus = gpus;
    run.records[run.records_count - 1].gpus_count = count;
}

/* A cell of both GPUs comes first and tells less than those of each. */
static void every_throttled_gpu_is_told_once(void **state)
{
    static uint32_t both[] = { 0, 1 };
    struct error err = { 0 };

    (void)state;
    throttle(SAMPLE_LATENCY, 0, 0, both, 2);
    assert_int_equal(diagnose("throttled")->gpu, -1);
    throttle(SAMPLE_H2D, 0, 0, both, 1);
    throttle(SAMPLE_H2D, 0, 1, both + 1, 1);
    throttle(SAMPLE_PEER, 0, 1, both, 2);
    throttle(SAMPLE_LATENCY, 1, 0, both + 1, 1);
    assert_int_equal(judge_run(&run, &arena, &verdicts, &err), NVBW_OK);
    assert_int_equal(verdicts.findings_count, 2);
    for (int32_t i = 0; i < 2; i++) {
        assert_string_equal(verdicts.findings[i].id, "throttled");
        assert_int_equal(verdicts.findings[i].gpu, i);
    }
}

/* What throttling explains is no other rule's business, on any GPU. */
static void throttling_explains_each_gpu(void **state)
{
    static uint32_t both[] = { 0, 1 };
    struct diagnosis diagnosis = { 0 };
    struct error err = { 0 };
    const struct judging judging = { &run, &arena, &err };

    (void)state;
    throttle(SAMPLE_H2D, 0, 0, both, 1);
    throttle(SAMPLE_H2D, 0, 1, both + 1, 1);
    assert_int_equal(judge_run(&run, &arena, &verdicts, &err), NVBW_OK);
    diagnosis = (struct diagnosis){
        .judging = &judging, .facts = &run.facts, .out = &verdicts
    };
    assert_int_equal(
        suspects_find(&judging, &verdicts, &diagnosis.suspects), NVBW_OK);
    assert_int_equal(diagnose_throttle.rules[0].look(
                         &diagnosis, &diagnose_throttle.rules[0]),
        NVBW_OK);
    assert_true(diagnosis.suspects.explained[0] != 0);
    assert_true(diagnosis.suspects.explained[1] != 0);
}

/* 70 % of a link is usual, 28 % is not, and one GPU needs no siblings. */
static void bands_of_utilisation(void **state)
{
    (void)state;
    run.plan.limits_count = 0;
    set_figure(record_at(SAMPLE_H2D, 0, 0), 0.70 * 63e9);
    diagnose(NULL);
    set_figure(record_at(SAMPLE_H2D, 0, 0), 0.28 * 63e9);
    assert_int_equal(diagnose("pcie_triage")->gpu, 0);
}

/* Three GPUs, of which the last has no figure of its own. */
static void add_third_gpu(void)
{
    struct gpu_facts *const three = arena_alloc(&arena, 3, sizeof *three);

    for (uint32_t i = 0; i < 3; i++) {
        three[i] = run.facts.gpus[i < 2 ? i : 1];
    }
    three[2].index = 2;
    three[2].uuid = "GPU-2";
    run.facts.gpus = three;
    run.facts.gpus_count = 3;
    run.plan.limits_count = 0;
}

static void a_gpu_without_a_figure_hides_no_far_memory(void **state)
{
    static struct node_facts nodes[2] = { { .number = 0 }, { .number = 1 } };

    (void)state;
    add_third_gpu();
    run.facts.nodes = nodes;
    run.facts.nodes_count = 2;
    for (uint32_t i = 0; i < 2; i++) {
        set_figure(record_at(SAMPLE_H2D, 0, i), 0.5 * 63e9);
    }
    assert_non_null(strstr(diagnose("numa_side")->what, "2 of 3 GPUs"));
}

/* Compared with its siblings a GPU is well in one testcase, and far from its
 * link in another: the sentence is of the latter. */
static void a_share_of_the_link_stands_with_its_figure(void **state)
{
    static uint32_t gpus[] = { 0, 1, 2 };
    struct unit *const unit = &run.units[SAMPLE_H2D];
    uint32_t alone = 0;

    (void)state;
    add_third_gpu();
    unit->gpus = gpus;
    unit->gpus_count = 3;
    unit->shapes[0].cols = 3;
    run.index = NULL;
    sample_figure(&run, &arena, SAMPLE_H2D, 0, 2, 0, 55.47e9);
    alone = sample_closed_unit(
        &run, &arena, "host_to_device_bare", STATE_NONE, NULL, NULL);
    sample_figure(&run, &arena, alone, 0, 0, 0, 0.25 * 63e9);
    run.index = NULL;

    const struct finding *const finding = diagnose("pcie_triage");

    assert_int_equal(finding->gpu, 0);
    assert_non_null(strstr(
        finding->what, "15.75 GB/s, 25 % of the link (host_to_device_bare)"));
}

/* Two GPUs of a shared machine differ by 20 % when others are at work. */
static void scatter_is_no_finding(void **state)
{
    (void)state;
    run.plan.limits_count = 0;
    set_figure(record_at(SAMPLE_H2D, 0, 0), 0.8 * 55.5e9);
    set_figure(record_at(SAMPLE_PEER, 1, 0), 0.9 * 396e9);
    diagnose(NULL);
}

/* "GPU 0 and GPU 1 has" would be wrong, and so would "this machine have". */
static void two_have_what_one_has(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < run.facts.pairs_count; i++) {
        run.facts.pairs[i].access = 0;
    }
    assert_non_null(
        strstr(diagnose("p2p_off")->what, "GPU 0 and GPU 1 have NVLink"));
    for (uint32_t i = 0; i < run.facts.pairs_count; i++) {
        run.facts.pairs[i].access = 1;
    }
    run.plan.limits_count = 0;
    set_figure(record_at(SAMPLE_PEER, 0, 1), 40e9);
    set_figure(record_at(SAMPLE_PEER, 1, 0), 40e9);
    assert_non_null(strstr(
        diagnose("nvlink_pcie_speed")->what, "GPU 0 and GPU 1 have NVLink"));
}

static const struct diagnosis_rule *rule_of(const char *id)
{
    for (size_t i = 0; diagnosis_families[i] != NULL; i++) {
        for (uint32_t j = 0; j < diagnosis_families[i]->count; j++) {
            if (strcmp(diagnosis_families[i]->rules[j].id, id) == 0) {
                return &diagnosis_families[i]->rules[j];
            }
        }
    }
    fail_msg("there is no rule %s", id);
    return NULL;
}

/* Crowded GPUs may be of several uplinks, and nothing waits for idle GPUs. */
static void rules_promise_no_more_than_is_known(void **state)
{
    (void)state;
    assert_null(strstr(rule_of("shared_uplink")->sentence, "an uplink"));
    assert_null(strstr(rule_of("busy")->next, "wait"));
}

static void a_slice_has_no_peers_by_design(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < run.facts.pairs_count; i++) {
        run.facts.pairs[i].access = 0;
    }
    diagnose("p2p_off");
    run.facts.gpus[0].mig = 1;
    diagnose(NULL);
}

/* A lost GPU has findings of its own. */
static void a_lost_gpu_is_not_blamed_for_links(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < run.facts.pairs_count; i++) {
        run.facts.pairs[i].access = 0;
    }
    run.facts.gpus[1].nvlinks_active = 0;
    run.facts.gpus[1].trouble = "it is gone";
    run.plan.devices = "0";
    diagnose("gpu_unusable");
}

enum { FOUR = 4 };

/* Four GPUs, all of whose pairs have this figure. */
static void make_four(double figure)
{
    static uint32_t gpus[FOUR] = { 0, 1, 2, 3 };
    struct unit *const unit = &run.units[SAMPLE_PEER];
    struct gpu_facts *const four = arena_alloc(&arena, FOUR, sizeof *four);
    struct pair_facts *const pairs =
        arena_alloc(&arena, (size_t)FOUR * FOUR, sizeof *pairs);

    run.facts.pairs_count = 0;
    for (uint32_t i = 0; i < FOUR; i++) {
        four[i] = run.facts.gpus[0];
        four[i].index = (int32_t)i;
        for (uint32_t j = 0; j < FOUR; j++) {
            if (i == j) {
                continue;
            }
            pairs[run.facts.pairs_count++] =
                (struct pair_facts){ i, j, 1, 18, "NV18" };
        }
    }
    run.facts.gpus = four;
    run.facts.gpus_count = FOUR;
    run.facts.pairs = pairs;
    unit->gpus = gpus;
    unit->gpus_count = FOUR;
    unit->shapes[0].rows = FOUR;
    unit->shapes[0].cols = FOUR;
    /* It was made for the smaller matrix; without it cells are searched. */
    run.index = NULL;
    for (uint32_t i = 0; i < run.facts.pairs_count; i++) {
        if (pairs[i].from > 1 || pairs[i].to > 1) {
            sample_figure(&run, &arena, SAMPLE_PEER, pairs[i].from, pairs[i].to,
                0, figure);
        }
    }
    run.plan.limits_count = 0;
    run.index = NULL;
}

static void one_slow_pair_is_a_link(void **state)
{
    (void)state;
    make_four(396e9);
    diagnose(NULL);
    set_figure(record_at(SAMPLE_PEER, 3, 1), 300e9);

    const struct finding *const finding = diagnose("pair_low");

    assert_int_equal(finding->gpu, 1);
    assert_int_equal(finding->peer, 3);
    assert_non_null(strstr(finding->what, "GPU 1 and GPU 3 are slow"));
}

static void a_slow_row_is_a_gpu(void **state)
{
    (void)state;
    make_four(396e9);
    for (uint32_t i = 0; i < FOUR - 1; i++) {
        set_figure(record_at(SAMPLE_PEER, 3, i), 300e9);
    }
    assert_int_equal(diagnose("nvlink_gpu")->gpu, 3);
}

/* What other flows contend for scatters, and no quiet cell is low. */
static void load_is_not_compared(void **state)
{
    struct record *record = NULL;

    (void)state;
    make_four(396e9);
    record = record_at(SAMPLE_PEER, 3, 1);
    set_figure(record, 200e9);

    struct flow_record *const flows = arena_alloc(&arena, 2, sizeof *flows);

    flows[0] = record->flows[0];
    flows[1] = record->flows[0];
    flows[1].src_place = 1;
    flows[1].dst_place = 3;
    flows[1].counted = 0;
    flows[1].flags = NVBW_FLOW_BACKGROUND;
    record->flows = flows;
    record->flows_count = 2;
    diagnose(NULL);
}

/* Cards with bridges have fewer links up than fitted, all of them alike. */
static void links_down_by_design_are_no_finding(void **state)
{
    (void)state;
    run.facts.gpus[0].nvlinks_active = 12;
    assert_int_equal(diagnose("nvlink_down")->gpu, 0);
    run.facts.gpus[1].nvlinks_active = 12;
    diagnose(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_has_all_its_words),
        cmocka_unit_test_setup_teardown(
            a_healthy_run_has_no_finding, start, stop),
        cmocka_unit_test_setup_teardown(
            a_figure_refutes_a_narrow_link, start, stop),
        cmocka_unit_test_setup_teardown(
            memory_of_another_node_is_told, start, stop),
        cmocka_unit_test_setup_teardown(
            pageable_memory_is_told_where_it_fails, start, stop),
        cmocka_unit_test_setup_teardown(
            small_copies_are_told_where_they_fail, start, stop),
        cmocka_unit_test_setup_teardown(a_throttled_cell_is_told, start, stop),
        cmocka_unit_test_setup_teardown(
            every_throttled_gpu_is_told_once, start, stop),
        cmocka_unit_test_setup_teardown(
            throttling_explains_each_gpu, start, stop),
        cmocka_unit_test_setup_teardown(bands_of_utilisation, start, stop),
        cmocka_unit_test_setup_teardown(
            a_gpu_without_a_figure_hides_no_far_memory, start, stop),
        cmocka_unit_test_setup_teardown(
            a_share_of_the_link_stands_with_its_figure, start, stop),
        cmocka_unit_test_setup_teardown(scatter_is_no_finding, start, stop),
        cmocka_unit_test_setup_teardown(two_have_what_one_has, start, stop),
        cmocka_unit_test(rules_promise_no_more_than_is_known),
        cmocka_unit_test_setup_teardown(
            a_slice_has_no_peers_by_design, start, stop),
        cmocka_unit_test_setup_teardown(
            a_lost_gpu_is_not_blamed_for_links, start, stop),
        cmocka_unit_test_setup_teardown(one_slow_pair_is_a_link, start, stop),
        cmocka_unit_test_setup_teardown(a_slow_row_is_a_gpu, start, stop),
        cmocka_unit_test_setup_teardown(load_is_not_compared, start, stop),
        cmocka_unit_test_setup_teardown(
            links_down_by_design_are_no_finding, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
