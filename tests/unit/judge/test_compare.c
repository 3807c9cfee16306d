/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "judge.h"
#include "node_of_run.h"
#include "sample_run.h"

static struct arena arena;
static struct evidence before, now;
static struct comparisons found;

static int start(void **state)
{
    (void)state;
    arena_init(&arena, 64 << 20);
    sample_run(&before, &arena);
    sample_run(&now, &arena);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_clear(&arena);
    return 0;
}

static int32_t try_compare(int force, struct error *err)
{
    const struct compare_request request = {
        .before = &before, .now = &now, .margin = COMPARE_MARGIN, .force = force
    };

    return compare_runs(&request, &arena, &found, err);
}

static void compare(void)
{
    struct error err = { 0 };

    if (try_compare(0, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

static const struct comparison *comparison_of(uint32_t unit, uint32_t cell)
{
    for (uint32_t i = 0; i < found.count; i++) {
        if (found.list[i].unit == unit && found.list[i].cell == cell) {
            return &found.list[i];
        }
    }
    fail_msg("cell %u of unit %u was not compared", cell, unit);
    return NULL;
}

/* The first cell's figure in the new run, 55.44e9 before. */
static uint32_t word_at(double figure)
{
    sample_figure(&now, &arena, SAMPLE_H2D, 0, 0, 0, figure);
    compare();
    return comparison_of(SAMPLE_H2D, 0)->word;
}

static void a_run_is_the_same_as_itself(void **state)
{
    (void)state;
    compare();
    assert_int_equal(found.count, 6);
    assert_int_equal(found.by_word[COMPARE_SAME], 6);
    assert_int_equal(found.only_old, 0);
    assert_int_equal(found.exit_code, 0);
}

static void intervals_decide(void **state)
{
    const double base = 100e9;

    (void)state;
    sample_figure(&before, &arena, SAMPLE_H2D, 0, 0, 0, base);
    assert_int_equal(word_at(base * 0.99), COMPARE_SAME);
    assert_int_equal(word_at(base * 1.01), COMPARE_SAME);
    assert_int_equal(word_at(base * 0.98), COMPARE_UNSURE);
    assert_int_equal(found.exit_code, 0);
    assert_int_equal(word_at(base * 0.95), COMPARE_SLOWER);
    assert_int_equal(found.exit_code, 1);
    assert_int_equal(word_at(base * 1.05), COMPARE_FASTER);
    assert_int_equal(found.exit_code, 0);

    const struct comparison *const one = comparison_of(SAMPLE_H2D, 0);

    assert_true(fabs(one->change - 0.05) < 1e-6);
    assert_true(one->low < 0.05 - COMPARE_BETWEEN_RUNS);
    assert_true(one->high > 0.05 + COMPARE_BETWEEN_RUNS);
}

/* Less is better there. */
static void a_longer_latency_is_slower(void **state)
{
    (void)state;
    sample_figure(&before, &arena, SAMPLE_LATENCY, 0, 0, 0, 1000.0);
    sample_figure(&now, &arena, SAMPLE_LATENCY, 0, 0, 0, 1100.0);
    sample_figure(&before, &arena, SAMPLE_LATENCY, 1, 0, 0, 1000.0);
    sample_figure(&now, &arena, SAMPLE_LATENCY, 1, 0, 0, 900.0);
    compare();
    assert_int_equal(comparison_of(SAMPLE_LATENCY, 0)->word, COMPARE_SLOWER);
    assert_int_equal(comparison_of(SAMPLE_LATENCY, 1)->word, COMPARE_FASTER);
    assert_true(comparison_of(SAMPLE_LATENCY, 0)->change < 0.0);
}

/* The first cell's old samples: 100e9, the last two off by this much. */
static void scatter_before(double lower, double higher)
{
    struct record *wide = NULL;

    sample_figure(&before, &arena, SAMPLE_H2D, 0, 0, 0, 100e9);
    wide = &before.records[before.records_count - 1];
    for (uint32_t i = 0; i < wide->samples_count; i++) {
        wide->samples[i] = 100e9;
    }
    wide->samples[6] -= lower;
    wide->samples[7] += higher;
}

/* A baseline that scattered by 8 % cannot show a change of 3 %. */
static void the_baselines_own_spread_widens_the_margin(void **state)
{
    (void)state;
    scatter_before(4e9, 4e9);
    assert_int_equal(word_at(97e9), COMPARE_SAME);
    assert_true(comparison_of(SAMPLE_H2D, 0)->margin > 0.075);
}

/* One hiccup in the old run hides neither half of the bandwidth nor makes
 * anything the same. */
static void a_hiccup_in_the_baseline_hides_nothing(void **state)
{
    (void)state;
    scatter_before(60e9, 0.0);
    assert_int_equal(word_at(50e9), COMPARE_SLOWER);
    assert_true(comparison_of(SAMPLE_H2D, 0)->margin <= COMPARE_SPREAD_MOST);
    assert_int_equal(found.exit_code, 1);
    assert_int_equal(word_at(100e9), COMPARE_UNSURE);
    assert_string_equal(comparison_of(SAMPLE_H2D, 0)->reason,
        "the old run scatters too much to tell");
    scatter_before(6e9, 6e9);
    assert_int_equal(word_at(100e9), COMPARE_UNSURE);
}

static void two_samples_are_too_few(void **state)
{
    (void)state;
    sample_figure(&now, &arena, SAMPLE_H2D, 0, 0, 0, 10e9);
    now.records[now.records_count - 1].samples_count = 2;
    compare();
    assert_int_equal(comparison_of(SAMPLE_H2D, 0)->word, COMPARE_UNSURE);
    assert_non_null(comparison_of(SAMPLE_H2D, 0)->reason);
}

/* ---- what runs differ by ---- */

/* The first cell of both runs, with the other direction beside it. */
static void both_ways(double old, double figure)
{
    struct evidence *const runs[] = { &before, &now };

    sample_figure(&before, &arena, SAMPLE_H2D, 0, 0, 0, old);
    sample_figure(&now, &arena, SAMPLE_H2D, 0, 0, 0, figure);
    for (int i = 0; i < 2; i++) {
        struct record *const record =
            &runs[i]->records[runs[i]->records_count - 1];
        struct flow_record *const flows = arena_alloc(&arena, 2, sizeof *flows);

        flows[0] = record->flows[0];
        flows[1] = flows[0];
        flows[1].src_memory = flows[0].dst_memory;
        flows[1].dst_memory = flows[0].src_memory;
        flows[1].src_place = flows[0].dst_place;
        flows[1].dst_place = flows[0].src_place;
        flows[1].counted = 0;
        record->flows = flows;
        record->flows_count = 2;
    }
    compare();
}

/* Both ways at once, two runs of a healthy machine may be 8 % apart: that is
 * neither slower nor the same. A link that lost half is slower. */
static void contended_traffic_needs_a_larger_change(void **state)
{
    const struct comparison *one = NULL;

    (void)state;
    both_ways(50e9, 46e9);
    one = comparison_of(SAMPLE_H2D, 0);
    assert_int_equal(one->word, COMPARE_UNSURE);
    assert_string_equal(one->reason, "healthy runs differ by as much");
    assert_string_equal(one->kind, "PCIe both ways at once");
    assert_true(one->reach > 0.1 && one->margin < 0.03);
    both_ways(50e9, 54e9);
    assert_int_equal(comparison_of(SAMPLE_H2D, 0)->word, COMPARE_UNSURE);
    both_ways(50e9, 50.2e9);
    assert_int_equal(comparison_of(SAMPLE_H2D, 0)->word, COMPARE_SAME);
    both_ways(50e9, 25e9);
    assert_int_equal(comparison_of(SAMPLE_H2D, 0)->word, COMPARE_SLOWER);
    assert_int_equal(found.exit_code, 1);
    both_ways(50e9, 42e9);
    assert_int_equal(comparison_of(SAMPLE_H2D, 0)->word, COMPARE_SLOWER);
}

/* The first cell's medians in runs of a baseline. */
static void several_before(const double *medians, uint32_t count)
{
    before.header.runs = count;
    for (uint32_t i = 0; i < count; i++) {
        sample_figure(&before, &arena, SAMPLE_H2D, 0, 0, i, medians[i]);
    }
}

/* What runs of the machine itself differed by takes the table's place. */
static void several_old_runs_say_what_runs_differ_by(void **state)
{
    static const double wild[] = { 100e9, 97e9, 103e9, 98e9, 102e9 };
    const struct comparison *one = NULL;

    (void)state;
    several_before(wild, 5);
    assert_int_equal(word_at(94e9), COMPARE_SAME);
    one = comparison_of(SAMPLE_H2D, 0);
    assert_string_equal(one->kind, "runs of the baseline");
    assert_true(one->margin > 0.08 && one->reach == one->margin);
    assert_int_equal(word_at(50e9), COMPARE_SLOWER);
    assert_int_equal(word_at(85e9), COMPARE_SLOWER);
    assert_int_equal(word_at(115e9), COMPARE_FASTER);
}

static void quiet_old_runs_show_a_small_change(void **state)
{
    static const double quiet[] = { 50e9, 50.02e9, 49.98e9, 50.01e9, 49.99e9 };

    (void)state;
    both_ways(50e9, 47e9);
    assert_int_equal(comparison_of(SAMPLE_H2D, 0)->word, COMPARE_UNSURE);
    several_before(quiet, 5);
    compare();
    assert_int_equal(comparison_of(SAMPLE_H2D, 0)->word, COMPARE_SLOWER);
}

static void derive_traffic(struct evidence *run, double factor)
{
    struct unit *const unit = &run->units[SAMPLE_H2D];
    struct unit_shape *const shapes = arena_alloc(&arena, 2, sizeof *shapes);
    double value = 55.44e9 * factor;
    struct record record;
    struct error err = { 0 };

    shapes[0] = unit->shapes[0];
    shapes[1] = shapes[0];
    shapes[1].metric = "traffic";
    shapes[1].derived = 1;
    unit->shapes = shapes;
    unit->shapes_count = 2;
    sample_figure(run, &arena, SAMPLE_H2D, 0, 0, 0, 55.44e9);
    record = run->records[run->records_count - 1];
    record.metric = "traffic";
    record.samples = &value;
    record.samples_count = 1;
    assert_int_equal(evidence_add(run, &arena, LINE_CELL, &record, &err), 0);
}

static const struct comparison *derived_cell(void)
{
    compare();
    return comparison_of(SAMPLE_H2D, 2);
}

/* A figure that was computed from another has one value and no scatter of its
 * own. */
static void a_derived_figure_scatters_as_its_source(void **state)
{
    (void)state;
    derive_traffic(&before, 2.0);
    derive_traffic(&now, 2.0);
    assert_int_equal(derived_cell()->word, COMPARE_SAME);
    assert_true(derived_cell()->before.low < derived_cell()->before.value);
    assert_true(derived_cell()->before.high > derived_cell()->before.value);
    derive_traffic(&now, 1.0);
    assert_int_equal(derived_cell()->word, COMPARE_SLOWER);
    /* Without a source nothing is known of it. */
    now.units[SAMPLE_H2D].shapes[1].better = NVBW_LOWER;
    assert_int_equal(derived_cell()->word, COMPARE_UNSURE);
}

/* A derived cell has no traffic of its own. */
static void a_derived_figure_reaches_as_far_as_its_source(void **state)
{
    const struct evidence *const runs[] = { &before, &now };
    const struct comparison *one = NULL;

    (void)state;
    derive_traffic(&before, 2.0);
    derive_traffic(&now, 2.0 * 0.92);
    for (int i = 0; i < 2; i++) {
        runs[i]->records[runs[i]->records_count - 1].flows_count = 0;
    }
    both_ways(50e9, 46e9);
    one = comparison_of(SAMPLE_H2D, 2);
    assert_int_equal(comparison_of(SAMPLE_H2D, 0)->word, COMPARE_UNSURE);
    assert_int_equal(one->word, COMPARE_UNSURE);
    assert_string_equal(one->kind, "PCIe both ways at once");
    assert_true(one->reach == comparison_of(SAMPLE_H2D, 0)->reach);
    assert_int_equal(found.exit_code, 0);
    derive_traffic(&now, 1.0);
    now.records[now.records_count - 1].flows_count = 0;
    both_ways(50e9, 46e9);
    assert_int_equal(comparison_of(SAMPLE_H2D, 2)->word, COMPARE_SLOWER);
}

static void name_cell(const struct facts *facts, const struct unit *unit,
    uint32_t cell, char *out, size_t size)
{
    (void)facts;
    snprintf(out, size, "%s %u", unit->testcase, cell);
}

/* What siblings may differ by is the same in the run in short. */
static void a_derived_group_reaches_as_far_as_its_source(void **state)
{
    struct verdicts verdicts = { 0 };
    struct node node = { 0 };
    struct error err = { 0 };

    (void)state;
    derive_traffic(&now, 2.0);
    now.records[now.records_count - 1].flows_count = 0;
    both_ways(50e9, 46e9);
    assert_int_equal(judge_run(&now, &arena, &verdicts, &err), NVBW_OK);
    assert_int_equal(
        node_of_run(&now, &verdicts, name_cell, &arena, &node, &err), NVBW_OK);
    assert_string_equal(node.groups[1].metric, "traffic");
    assert_true(node.groups[0].reach > 0.1);
    assert_true(node.groups[1].reach == node.groups[0].reach);
}

static void what_is_not_measured_now_is_lost(void **state)
{
    (void)state;
    sample_state(&now, &arena, SAMPLE_H2D, 0, 1, STATE_CRASH, NULL, NULL);
    now.records[now.records_count - 1].attempt = 1;
    sample_state(&before, &arena, SAMPLE_PEER, 0, 1, STATE_SKIP, NULL, NULL);
    before.records[before.records_count - 1].attempt = 1;
    compare();
    assert_int_equal(comparison_of(SAMPLE_H2D, 1)->word, COMPARE_LOST);
    assert_string_equal(comparison_of(SAMPLE_H2D, 1)->reason, "crash");
    assert_int_equal(comparison_of(SAMPLE_PEER, 1)->word, COMPARE_ONLY_NEW);
    assert_int_equal(found.exit_code, 1);
}

static void leave_out(uint32_t unit, uint32_t row, uint32_t col)
{
    sample_state(&now, &arena, unit, row, col, STATE_SKIP, "excluded", NULL);
    now.records[now.records_count - 1].attempt = 1;
}

/* A budget, or a choice of pairs, says nothing of the machine. */
static void what_is_left_out_is_not_lost(void **state)
{
    struct error err = { 0 };

    (void)state;
    leave_out(SAMPLE_H2D, 0, 1);
    compare();
    assert_int_equal(comparison_of(SAMPLE_H2D, 1)->word, COMPARE_LEFT_OUT);
    assert_string_equal(
        comparison_of(SAMPLE_H2D, 1)->reason, "skip (excluded)");
    assert_int_equal(found.exit_code, 0);
    leave_out(SAMPLE_H2D, 0, 0);
    leave_out(SAMPLE_PEER, 0, 1);
    leave_out(SAMPLE_PEER, 1, 0);
    leave_out(SAMPLE_LATENCY, 0, 0);
    leave_out(SAMPLE_LATENCY, 1, 0);
    assert_int_equal(try_compare(0, &err), NVBW_E_INVALID);
    assert_non_null(strstr(err.text, "left out all"));
}

static void assert_unreached(uint32_t word, const char *reason, int32_t code)
{
    const uint32_t id = sample_closed_unit(
        &now, &arena, "host_to_device_memcpy_ce", STATE_NONE, NULL, NULL);

    now.units[id].round = 1;
    compare();
    assert_int_equal(comparison_of(id, 0)->word, word);
    assert_string_equal(comparison_of(id, 0)->reason, reason);
    assert_int_equal(found.exit_code, code);
}

static void what_a_budget_did_not_reach_is_not_lost(void **state)
{
    (void)state;
    now.ended = 1;
    now.end.budget_used = 1;
    assert_unreached(COMPARE_LEFT_OUT, "not_run (budget)", 0);
}

static void what_a_stopped_run_did_not_reach_is_lost(void **state)
{
    (void)state;
    now.ended = 1;
    assert_unreached(COMPARE_LOST, "not_run (stopped)", 1);
}

/* One more round of the copies from the host. */
static void add_round(struct evidence *run, uint32_t round)
{
    const uint32_t id = sample_closed_unit(
        run, &arena, "host_to_device_memcpy_ce", STATE_NONE, NULL, NULL);

    run->units[id].round = round;
    sample_figure(run, &arena, id, 0, 0, 0, 55.44e9);
    sample_figure(run, &arena, id, 0, 1, 0, 55.47e9);
}

static void rounds_make_no_cell_of_the_old_run(void **state)
{
    (void)state;
    add_round(&before, 1);
    add_round(&before, 2);
    compare();
    assert_int_equal(found.count, 6);
    assert_int_equal(found.only_old, 0);
    /* Not planned now, they are what they were. */
    now.units[SAMPLE_H2D].testcase = "another";
    compare();
    assert_int_equal(found.only_old, 6);
}

static void rounds_hide_no_cell_of_the_old_run(void **state)
{
    (void)state;
    add_round(&now, 1);
    now.units[SAMPLE_LATENCY].testcase = "another";
    compare();
    assert_int_equal(found.by_word[COMPARE_SAME], 6);
    assert_int_equal(found.by_word[COMPARE_ONLY_NEW], 2);
    assert_int_equal(found.only_old, 2);
}

/* GPUs are known by their UUIDs, wherever they stand. */
static void cells_follow_their_gpu(void **state)
{
    (void)state;
    sample_figure(&before, &arena, SAMPLE_H2D, 0, 0, 0, 40e9);
    sample_figure(&before, &arena, SAMPLE_H2D, 0, 1, 0, 50e9);
    sample_figure(&now, &arena, SAMPLE_H2D, 0, 0, 0, 50e9);
    sample_figure(&now, &arena, SAMPLE_H2D, 0, 1, 0, 40e9);
    now.facts.gpus[0].uuid = "GPU-1";
    now.facts.gpus[1].uuid = "GPU-0";
    compare();
    assert_int_equal(comparison_of(SAMPLE_H2D, 0)->word, COMPARE_SAME);
    assert_int_equal(comparison_of(SAMPLE_H2D, 1)->word, COMPARE_SAME);
}

static void assert_refused(const char *why)
{
    struct error err = { 0 };

    assert_int_equal(try_compare(0, &err), NVBW_E_INVALID);
    if (strstr(err.text, why) == NULL) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(try_compare(1, &err), NVBW_OK);
}

static void other_machines_are_refused(void **state)
{
    (void)state;
    now.facts.gpus[1].uuid = "GPU-7";
    assert_refused("different machines: node17 has no NVIDIA H200 GPU-7");
    now.facts.gpus[1].uuid = "GPU-1";
    now.facts.simulated = 1;
    assert_refused("one is simulated");
}

static void other_parameters_are_refused(void **state)
{
    static const char *one[] = { "64 MiB" };
    static const char *other[] = { "1 GiB" };
    static struct unit_param small[] = { { "buffer_size", one, 1 } };
    static struct unit_param large[] = { { "buffer_size", other, 1 } };

    (void)state;
    before.units[SAMPLE_H2D].params = small;
    before.units[SAMPLE_H2D].params_count = 1;
    now.units[SAMPLE_H2D].params = large;
    now.units[SAMPLE_H2D].params_count = 1;
    assert_refused("buffer_size = 64 MiB there, and 1 GiB here");
    /* Compared by force, the cells of that unit have nothing to compare to. */
    assert_int_equal(comparison_of(SAMPLE_H2D, 0)->word, COMPARE_ONLY_NEW);
    small[0].name = "seed";
    large[0].name = "seed";
    compare();
    assert_int_equal(found.by_word[COMPARE_SAME], 6);
}

static void runs_without_a_common_cell_are_refused(void **state)
{
    struct error err = { 0 };

    (void)state;
    for (uint32_t i = 0; i < now.units_count; i++) {
        now.units[i].testcase = "another";
    }
    assert_int_equal(try_compare(0, &err), NVBW_E_INVALID);
    assert_non_null(strstr(err.text, "no measured cell in common"));
}

/* ---- as the base of a limit ---- */

static const struct verdict *judged(struct verdicts *verdicts)
{
    struct error err = { 0 };

    sample_limit(&now, &arena, "*", "98 % of baseline", NULL);
    assert_int_equal(judge_run(&now, &arena, verdicts, &err), NVBW_OK);
    return &verdicts->list[0];
}

static void a_baseline_is_a_base(void **state)
{
    struct verdicts verdicts = { 0 };

    (void)state;
    assert_int_equal(judged(&verdicts)->state, STATE_UNCHECKED);
    assert_string_equal(judged(&verdicts)->message, "no baseline was given");
    now.baseline = &before;
    sample_figure(&before, &arena, SAMPLE_H2D, 0, 0, 0, 60e9);
    assert_int_equal(judged(&verdicts)->state, STATE_FAIL);
    assert_true(fabs(judged(&verdicts)->limit - 0.98 * 60e9) < 1e6);
    assert_non_null(judged(&verdicts)->base_formula);
    sample_figure(&before, &arena, SAMPLE_H2D, 0, 0, 0, 50e9);
    assert_int_equal(judged(&verdicts)->state, STATE_PASS);
    before.facts.gpus[0].uuid = "GPU-7";
    assert_int_equal(judged(&verdicts)->state, STATE_UNCHECKED);
    assert_non_null(strstr(judged(&verdicts)->message, "another machine"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_run_is_the_same_as_itself),
        TEST(intervals_decide),
        TEST(a_longer_latency_is_slower),
        TEST(the_baselines_own_spread_widens_the_margin),
        TEST(a_hiccup_in_the_baseline_hides_nothing),
        TEST(two_samples_are_too_few),
        TEST(contended_traffic_needs_a_larger_change),
        TEST(several_old_runs_say_what_runs_differ_by),
        TEST(quiet_old_runs_show_a_small_change),
        TEST(a_derived_figure_scatters_as_its_source),
        TEST(a_derived_figure_reaches_as_far_as_its_source),
        TEST(a_derived_group_reaches_as_far_as_its_source),
        TEST(what_is_not_measured_now_is_lost),
        TEST(what_is_left_out_is_not_lost),
        TEST(what_a_budget_did_not_reach_is_not_lost),
        TEST(what_a_stopped_run_did_not_reach_is_lost),
        TEST(rounds_make_no_cell_of_the_old_run),
        TEST(rounds_hide_no_cell_of_the_old_run),
        TEST(cells_follow_their_gpu),
        TEST(other_machines_are_refused),
        TEST(other_parameters_are_refused),
        TEST(runs_without_a_common_cell_are_refused),
        TEST(a_baseline_is_a_base),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
