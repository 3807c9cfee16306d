/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "judge.h"

#include <math.h>
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

static void judge(void)
{
    struct error err = { 0 };

    if (judge_run(&run, &arena, &verdicts, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

static const struct verdict *verdict_of(
    uint32_t unit, uint32_t row, uint32_t col)
{
    for (uint32_t i = 0; i < verdicts.count; i++) {
        const struct verdict *const verdict = &verdicts.list[i];

        if (verdict->unit == unit && verdict->row == row &&
            verdict->col == col) {
            return verdict;
        }
    }
    fail_msg("there is no verdict on %u %u %u", unit, row, col);
    return NULL;
}

static void assert_state(
    const struct verdict *verdict, uint32_t state, const char *reason)
{
    if (verdict->state != state) {
        fail_msg("%s (%s): %s", name_of(state_names, verdict->state),
            verdict->reason == NULL ? "" : verdict->reason,
            verdict->message == NULL ? "" : verdict->message);
    }
    if (reason != NULL) {
        assert_non_null(verdict->reason);
        assert_string_equal(verdict->reason, reason);
    }
}

static void a_healthy_run_passes(void **state)
{
    (void)state;
    judge();
    assert_int_equal(verdicts.count, 6);
    assert_int_equal(verdicts.by_state[STATE_PASS], 4);
    assert_int_equal(verdicts.by_state[STATE_UNCHECKED], 2);
    assert_int_equal(verdicts.exit_code, 0);
    assert_int_equal(verdicts.findings_count, 0);

    const struct verdict *const h2d = verdict_of(SAMPLE_H2D, 0, 0);

    assert_true(fabs(h2d->theoretical - 63.0154e9) < 1e6);
    assert_true(fabs(h2d->limit - 0.95 * 0.88 * 63.0154e9) < 1e6);
    assert_true(fabs(h2d->utilisation - 0.8798) < 0.001);
    assert_string_equal(h2d->limit_text, "95 % of expected");
    assert_int_equal(h2d->limit_origin.line, 12);
    assert_true(h2d->margin > 0.0);
    assert_state(verdict_of(SAMPLE_LATENCY, 0, 0), STATE_UNCHECKED, "no_limit");
}

/* What --rerun-failed measured stands alone. */
static void a_later_series_replaces_the_earlier(void **state)
{
    const struct verdict *verdict = NULL;

    (void)state;
    sample_figure(&run, &arena, 0, 0, 0, 0, 20e9);
    sample_figure(&run, &arena, 0, 0, 0, 1, 20e9);
    sample_figure(&run, &arena, 0, 0, 0, 2, 20e9);
    judge();
    assert_int_equal(verdict_of(0, 0, 0)->state, STATE_FAIL);

    sample_figure(&run, &arena, 0, 0, 0, 3, 55e9);
    run.records[run.records_count - 1].series = 3;
    judge();
    verdict = verdict_of(0, 0, 0);
    assert_int_equal(verdict->state, STATE_PASS);
    assert_int_equal(verdict->attempts, 1);
}

static void every_planned_cell_has_one_verdict(void **state)
{
    (void)state;
    sample_closed_unit(&run, &arena, "skipped", STATE_SKIP, "no_nvlink", NULL);
    judge();

    uint32_t sum = 0;

    for (uint32_t i = 0; i < STATE_COUNT; i++) {
        sum += verdicts.by_state[i];
    }
    assert_int_equal(verdicts.count, 8);
    assert_int_equal(sum, 8);
    assert_int_equal(verdicts.by_state[STATE_NONE], 0);
    assert_int_equal(verdicts.by_state[STATE_MEASURED], 0);
    assert_non_null(verdict_of(3, 0, 1)->message);
    assert_int_equal(verdicts.exit_code, 4);
}

static void a_slow_cell_fails(void **state)
{
    (void)state;
    sample_figure(&run, &arena, SAMPLE_H2D, 0, 1, 1, 27e9);
    sample_figure(&run, &arena, SAMPLE_H2D, 0, 1, 2, 27e9);
    judge();

    const struct verdict *const slow = verdict_of(SAMPLE_H2D, 0, 1);

    assert_state(slow, STATE_FAIL, "limit");
    assert_int_equal(slow->attempts, 3);
    assert_int_equal(slow->passed, 1);
    assert_true(fabs(slow->figure - 27e9) < 1e7);
    assert_non_null(strstr(slow->message, "below 52.68 GB/s"));
    assert_int_equal(verdicts.exit_code, 1);
}

static void the_majority_of_attempts_decides(void **state)
{
    (void)state;
    sample_figure(&run, &arena, SAMPLE_H2D, 0, 0, 0, 27e9);
    sample_figure(&run, &arena, SAMPLE_H2D, 0, 0, 1, 55e9);
    judge();
    assert_state(verdict_of(SAMPLE_H2D, 0, 0), STATE_FAIL, "limit");
    sample_figure(&run, &arena, SAMPLE_H2D, 0, 0, 2, 55e9);
    judge();
    assert_state(verdict_of(SAMPLE_H2D, 0, 0), STATE_PASS, NULL);
    assert_int_equal(verdict_of(SAMPLE_H2D, 0, 0)->passed, 2);
    run.units[SAMPLE_H2D].pass_rule = "3 of 3";
    judge();
    assert_state(verdict_of(SAMPLE_H2D, 0, 0), STATE_FAIL, "limit");
    run.units[SAMPLE_H2D].pass_rule = "1 of 3";
    judge();
    assert_state(verdict_of(SAMPLE_H2D, 0, 0), STATE_PASS, NULL);
}

static uint32_t confirm_count(void)
{
    uint32_t *cells = NULL;
    uint32_t count = 0;

    assert_int_equal(
        judge_unit(&run, SAMPLE_H2D, &arena, &cells, &count, NULL), NVBW_OK);
    if (count > 0) {
        assert_int_equal(cells[0], 1);
    }
    return count;
}

static void failing_cells_are_confirmed_as_often_as_asked(void **state)
{
    (void)state;
    assert_int_equal(confirm_count(), 0);
    sample_figure(&run, &arena, SAMPLE_H2D, 0, 1, 0, 27e9);
    assert_int_equal(confirm_count(), 1);
    sample_figure(&run, &arena, SAMPLE_H2D, 0, 1, 1, 27e9);
    assert_int_equal(confirm_count(), 1);
    sample_figure(&run, &arena, SAMPLE_H2D, 0, 1, 2, 27e9);
    assert_int_equal(confirm_count(), 0);
    assert_int_equal(judge_unit(&run, 99, &arena, NULL, &(uint32_t){ 0 }, NULL),
        NVBW_E_INVALID);
}

static void a_confirm_that_was_stopped_takes_nothing_back(void **state)
{
    (void)state;
    sample_state(&run, &arena, SAMPLE_H2D, 0, 0, STATE_CANCELLED, NULL, "x");
    judge();
    assert_state(verdict_of(SAMPLE_H2D, 0, 0), STATE_PASS, NULL);
    sample_state(&run, &arena, SAMPLE_H2D, 0, 0, STATE_CRASH, NULL, "boom");
    judge();
    assert_state(verdict_of(SAMPLE_H2D, 0, 0), STATE_CRASH, NULL);
    assert_string_equal(verdict_of(SAMPLE_H2D, 0, 0)->message, "boom");
}

static void the_impossible_is_invalid(void **state)
{
    (void)state;
    sample_figure(&run, &arena, SAMPLE_H2D, 0, 0, 0, 63.5e9);
    sample_figure(&run, &arena, SAMPLE_PEER, 0, 1, 0, 479e9);
    sample_figure(&run, &arena, SAMPLE_PEER, 1, 0, 0, 470e9);
    judge();
    assert_state(verdict_of(SAMPLE_H2D, 0, 0), STATE_INVALID, "above_limit");
    assert_non_null(strstr(verdict_of(SAMPLE_H2D, 0, 0)->message, "Gen5 x16"));
    assert_state(verdict_of(SAMPLE_PEER, 0, 1), STATE_INVALID, "above_limit");
    assert_state(verdict_of(SAMPLE_PEER, 1, 0), STATE_PASS, NULL);
}

static const char *cached[] = { "cache_bound" };

static void flag_as_cached(struct record *record)
{
    record->flags = cached;
    record->flags_count = 1;
}

/* Of the first cell: it read its GPU's own memory. */
static struct record *read_local(double figure)
{
    sample_figure(&run, &arena, SAMPLE_H2D, 0, 0, 0, figure);

    struct record *const record = &run.records[run.records_count - 1];

    record->flows[0].initiator = NVBW_BY_SM;
    record->flows[0].operation = NVBW_OP_READ;
    record->flows[0].src_memory = NVBW_MEM_DEVICE;
    record->flows[0].src_place = 0;
    record->flows[0].dst_memory = NVBW_MEM_NONE;
    return record;
}

static void a_cache_makes_no_link_faster(void **state)
{
    (void)state;
    sample_figure(&run, &arena, SAMPLE_H2D, 0, 0, 0, 99e9);
    flag_as_cached(&run.records[run.records_count - 1]);
    judge();
    assert_state(verdict_of(SAMPLE_H2D, 0, 0), STATE_INVALID, "above_limit");
    sample_figure(&run, &arena, SAMPLE_H2D, 0, 0, 0, 55e9);
    flag_as_cached(&run.records[run.records_count - 1]);
    judge();
    assert_state(verdict_of(SAMPLE_H2D, 0, 0), STATE_PASS, NULL);
}

static void a_cache_meets_no_share_of_the_memory(void **state)
{
    static const char *shares[] = { "90 % of link", "9 % of link" };
    const struct verdict *verdict = NULL;

    (void)state;
    sample_limit(&run, &arena, "*", shares[0], NULL);
    read_local(8196e9);
    judge();
    assert_state(verdict_of(SAMPLE_H2D, 0, 0), STATE_INVALID, "above_limit");
    read_local(4500e9);
    judge();
    assert_state(verdict_of(SAMPLE_H2D, 0, 0), STATE_PASS, NULL);
    for (int i = 0; i < 2; i++) {
        sample_limit(&run, &arena, "*", shares[i], NULL);
        flag_as_cached(read_local(8196e9));
        judge();
        verdict = verdict_of(SAMPLE_H2D, 0, 0);
        assert_state(verdict, STATE_UNCHECKED, "cache_bound");
        assert_non_null(strstr(verdict->message, "8196 GB/s may be the rate"));
        assert_int_equal(verdict->exit_code, 4);
    }
    sample_limit(&run, &arena, "*", shares[0], NULL);
    flag_as_cached(read_local(2000e9));
    judge();
    assert_state(verdict_of(SAMPLE_H2D, 0, 0), STATE_FAIL, "limit");
}

static void a_cache_may_be_held_to_a_rate_of_its_own(void **state)
{
    (void)state;
    sample_limit(&run, &arena, "*", "7000 GB/s", NULL);
    flag_as_cached(read_local(8196e9));
    judge();
    assert_state(verdict_of(SAMPLE_H2D, 0, 0), STATE_PASS, NULL);
}

static void a_base_is_demanded_by_name_only(void **state)
{
    (void)state;
    run.facts.gpus[1].pcie.max_width = 0;
    judge();
    assert_state(verdict_of(SAMPLE_H2D, 0, 1), STATE_UNCHECKED, "no_limit");
    assert_int_equal(verdicts.exit_code, 0);
    sample_limit(
        &run, &arena, "host_to_device_memcpy_ce", "95 % of expected", NULL);
    judge();
    assert_state(verdict_of(SAMPLE_H2D, 0, 1), STATE_UNCHECKED, "no_base");
    assert_int_equal(verdicts.exit_code, 4);
    run.units[SAMPLE_H2D].required = "if_possible";
    judge();
    assert_int_equal(verdicts.exit_code, 0);
}

static void each_kind_of_limit_is_applied(void **state)
{
    (void)state;
    sample_limit(&run, &arena, "*", "54 GB/s", NULL);
    judge();
    assert_state(verdict_of(SAMPLE_H2D, 0, 0), STATE_PASS, NULL);
    assert_true(fabs(verdict_of(SAMPLE_H2D, 0, 0)->limit - 54e9) < 1);
    sample_limit(&run, &arena, "*", "90 % of link", NULL);
    judge();
    assert_state(verdict_of(SAMPLE_H2D, 0, 0), STATE_FAIL, "limit");
    sample_limit(&run, &arena, "*latency*", NULL, "1200 ns");
    judge();
    assert_state(verdict_of(SAMPLE_LATENCY, 0, 0), STATE_PASS, NULL);
    assert_state(verdict_of(SAMPLE_LATENCY, 1, 0), STATE_FAIL, "limit");
    assert_non_null(strstr(verdict_of(SAMPLE_LATENCY, 1, 0)->message, "above"));
    sample_limit(
        &run, &arena, "host_to_device_memcpy_ce", "97 % of baseline", NULL);
    judge();
    assert_state(verdict_of(SAMPLE_H2D, 0, 0), STATE_UNCHECKED, "no_base");
    assert_non_null(
        strstr(verdict_of(SAMPLE_H2D, 0, 0)->message, "no baseline"));
}

static void two_siblings_are_no_crowd(void **state)
{
    (void)state;
    sample_limit(
        &run, &arena, "host_to_device_memcpy_ce", "97 % of siblings", NULL);
    judge();
    assert_state(verdict_of(SAMPLE_H2D, 0, 0), STATE_UNCHECKED, "no_base");
    assert_non_null(strstr(verdict_of(SAMPLE_H2D, 0, 0)->message, "only 2"));
}

static void a_narrow_pass_is_a_warning(void **state)
{
    (void)state;
    sample_limit(&run, &arena, "*", "50 GB/s", NULL);
    run.plan.limits[0].warn = "55.45 GB/s";
    judge();
    assert_state(verdict_of(SAMPLE_H2D, 0, 0), STATE_WARN, "warn_band");
    assert_state(verdict_of(SAMPLE_H2D, 0, 1), STATE_PASS, NULL);
    assert_int_equal(verdicts.exit_code, 0);
}

static void what_was_not_reached_is_not_run(void **state)
{
    (void)state;
    sample_closed_unit(&run, &arena, "late", STATE_NONE, NULL, NULL);
    judge();
    assert_state(verdict_of(3, 0, 0), STATE_NOT_RUN, "stopped");
    run.end.budget_used = 1;
    judge();
    assert_state(verdict_of(3, 0, 0), STATE_NOT_RUN, "budget");
    assert_int_equal(verdicts.exit_code, 4);
}

static void an_interrupted_run_is_incomplete(void **state)
{
    (void)state;
    run.end.interrupted = 1;
    judge();
    assert_int_equal(verdicts.exit_code, 4);
    run.units_count = 0;
    run.index = NULL;
    run.end.interrupted = 0;
    judge();
    assert_int_equal(verdicts.count, 0);
    assert_int_equal(verdicts.exit_code, 4);
}

static void a_broken_contract_is_never_hidden(void **state)
{
    const uint32_t id = sample_closed_unit(
        &run, &arena, "*", STATE_ERROR, "refused", "bad.so: not an ELF file");

    (void)state;
    run.units[id].required = "no";
    judge();
    assert_int_equal(verdict_of(id, 0, 0)->exit_code, 0);
    assert_int_equal(verdicts.exit_code, 5);
    assert_int_equal(verdicts.findings_count, 1);
    assert_string_equal(verdicts.findings[0].id, "plugin_refused");
}

static void health_comes_first(void **state)
{
    struct event tainted = { .what = "tainted",
        .unit = -1,
        .gpu = 1,
        .text = "worker 42 is stuck in the driver" };

    (void)state;
    sample_closed_unit(
        &run, &arena, "*", STATE_ERROR, "refused", "bad.so: broken");
    evidence_add(&run, &arena, LINE_EVENT, &tainted, NULL);
    judge();
    assert_int_equal(verdicts.exit_code, 3);
    tainted.what = "untainted";
    evidence_add(&run, &arena, LINE_EVENT, &tainted, NULL);
    judge();
    assert_int_equal(verdicts.exit_code, 5);
}

static void another_machine_is_a_health_failure(void **state)
{
    static const char *gpus[] = { "8" };
    static const char *model[] = { "no such model" };
    static struct plan_value expect[] = {
        { .name = "gpus", .texts = gpus, .texts_count = 1 },
        { .name = "model", .texts = model, .texts_count = 1 },
    };

    (void)state;
    sample_closed_unit(
        &run, &arena, "x", STATE_NOT_RUN, "health", "not the machine");
    run.plan.expect = expect;
    run.plan.expect_count = 2;
    judge();
    assert_int_equal(verdicts.exit_code, 3);
    assert_int_equal(verdicts.findings_count, 1 + run.facts.gpus_count);
    assert_string_equal(verdicts.findings[0].id, "expect");
    assert_non_null(
        strstr(verdicts.findings[0].what, "expected 8 GPUs, found"));
}

static void limits_without_a_cell_are_listed(void **state)
{
    (void)state;
    sample_limit(&run, &arena, "host_to_devcie*", "50 GB/s", NULL);
    judge();
    assert_int_equal(verdicts.unmatched_limits_count, 1);
    assert_string_equal(verdicts.unmatched_limits[0],
        "acceptance.cfg:12: limit \"host_to_devcie*\"");
    run.plan.limits[0].match = "host_to_device*";
    judge();
    assert_int_equal(verdicts.unmatched_limits_count, 0);
    run.plan.limits[0].direction = "d2h";
    judge();
    assert_int_equal(verdicts.unmatched_limits_count, 1);
    run.plan.limits[0].direction = "h2d";
    run.plan.limits[0].devices = "7";
    judge();
    assert_int_equal(verdicts.unmatched_limits_count, 1);
}

/* What -t or --tags left out is no mistyped name. */
static void limits_of_what_was_left_out_are_not_listed(void **state)
{
    static const char *only[] = { "host_to_device*" };
    static const char *tags[] = { "peer" };
    static struct metric_schema metric = { .name = "bandwidth" };
    static struct testcase_schema testcases[] = {
        { .name = "host_to_device_memcpy_ce",
            .metrics = &metric,
            .metrics_count = 1 },
        { .name = "device_to_host_memcpy_ce",
            .metrics = &metric,
            .metrics_count = 1 },
    };
    static struct plugin_schema plugin = {
        .name = "ce_h2d", .testcases = testcases, .testcases_count = 2
    };
    static struct plan_suite suite = { .plugin = "ce_h2d", .enabled = 1 };

    (void)state;
    run.plugins = &plugin;
    run.plugins_count = 1;
    run.plan.suites = &suite;
    run.plan.suites_count = 1;
    sample_limit(&run, &arena, "device_to_host*/bandwidth", "50 GB/s", NULL);
    judge();
    assert_int_equal(verdicts.unmatched_limits_count, 1);
    run.plan.only = only;
    run.plan.only_count = 1;
    judge();
    assert_int_equal(verdicts.unmatched_limits_count, 0);
    run.plan.limits[0].match = "device_to_hots*";
    judge();
    assert_int_equal(verdicts.unmatched_limits_count, 1);
    run.plan.limits[0].match = "device_to_host*/latency";
    judge();
    assert_int_equal(verdicts.unmatched_limits_count, 1);
    run.plan.limits[0].match = "device_to_host*";
    run.plan.only_count = 0;
    run.plan.tags = tags;
    run.plan.tags_count = 1;
    judge();
    assert_int_equal(verdicts.unmatched_limits_count, 0);
    suite.enabled = 0;
    judge();
    assert_int_equal(verdicts.unmatched_limits_count, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_healthy_run_passes),
        TEST(a_later_series_replaces_the_earlier),
        TEST(every_planned_cell_has_one_verdict),
        TEST(a_slow_cell_fails),
        TEST(the_majority_of_attempts_decides),
        TEST(failing_cells_are_confirmed_as_often_as_asked),
        TEST(a_confirm_that_was_stopped_takes_nothing_back),
        TEST(the_impossible_is_invalid),
        TEST(a_cache_makes_no_link_faster),
        TEST(a_cache_meets_no_share_of_the_memory),
        TEST(a_cache_may_be_held_to_a_rate_of_its_own),
        TEST(a_base_is_demanded_by_name_only),
        TEST(each_kind_of_limit_is_applied),
        TEST(two_siblings_are_no_crowd),
        TEST(a_narrow_pass_is_a_warning),
        TEST(what_was_not_reached_is_not_run),
        TEST(an_interrupted_run_is_incomplete),
        TEST(a_broken_contract_is_never_hidden),
        TEST(health_comes_first),
        TEST(another_machine_is_a_health_failure),
        TEST(limits_without_a_cell_are_listed),
        TEST(limits_of_what_was_left_out_are_not_listed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
