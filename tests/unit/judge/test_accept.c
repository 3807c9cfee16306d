/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "accept.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sample_run.h"

static struct arena arena;
static struct evidence run;
static struct verdicts verdicts;

/* Both GPUs are slow from the host, and one pair between them. */
static int start(void **state)
{
    (void)state;
    arena_init(&arena, 64 << 20);
    sample_run(&run, &arena);
    run.header.started = "2026-11-30T05:00:00Z";
    for (uint32_t attempt = 1; attempt < 4; attempt++) {
        sample_figure(&run, &arena, SAMPLE_H2D, 0, 0, attempt, 20e9);
        sample_figure(&run, &arena, SAMPLE_H2D, 0, 1, attempt, 20e9);
        sample_figure(&run, &arena, SAMPLE_PEER, 0, 1, attempt, 100e9);
    }
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_clear(&arena);
    return 0;
}

static void judge(struct plan_accept *list, uint32_t count)
{
    struct error err = { 0 };

    run.plan.accepts = list;
    run.plan.accepts_count = count;
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

static void all_is_accepted_or_all_fails(void **state)
{
    struct plan_accept one = { .match = "*", .why = "known" };

    (void)state;
    judge(NULL, 0);
    assert_int_equal(verdicts.exit_code, EXIT_FAILED);
    assert_int_equal(verdicts.by_state[STATE_FAIL], 3);
    judge(&one, 1);
    assert_int_equal(verdicts.exit_code, EXIT_PASSED);
    assert_int_equal(verdicts.by_state[STATE_FAIL], 3);
    assert_int_equal(verdicts.accepted_count, 3);
    assert_int_equal(verdicts.acceptances_count, 1);
    assert_int_equal(verdicts.acceptances[0].cells, 3);
    assert_ptr_equal(verdict_of(SAMPLE_H2D, 0, 0)->accept, &one);
    assert_int_equal(verdict_of(SAMPLE_H2D, 0, 0)->state, STATE_FAIL);
    assert_null(verdict_of(SAMPLE_PEER, 1, 0)->accept);
}

/* The parts of an entry narrow it. */
static void only_what_matches_is_accepted(void **state)
{
    struct {
        struct plan_accept entry;
        uint32_t cells;
    } cases[] = {
        { { .match = "host_to_device_*" }, 2 },
        { { .match = "host_to_device_*/bandwidth", .device = "1" }, 1 },
        { { .match = "host_to_device_*/total" }, 0 },
        { { .device = "GPU-1" }, 2 },
        { { .device = "0", .match = "device_to_device*" }, 1 },
        { { .pair = "1-0" }, 1 },
        { { .pair = "0-2" }, 0 },
        { { .device = "7" }, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        judge(&cases[i].entry, 1);
        assert_int_equal(verdicts.accepted_count, cases[i].cells);
        assert_int_equal(verdicts.acceptances[0].cells, cases[i].cells);
        assert_int_equal(verdicts.exit_code, EXIT_FAILED);
    }
}

static void an_entry_ends_with_its_day(void **state)
{
    struct plan_accept one = { .match = "*",
        .why = "known",
        .until = "2026-11-29",
        .origin = { "site.cfg", 7 } };

    (void)state;
    judge(&one, 1);
    assert_int_equal(verdicts.exit_code, EXIT_FAILED);
    assert_int_equal(verdicts.accepted_count, 0);
    assert_true(verdicts.acceptances[0].ended);
    assert_int_equal(verdicts.acceptances[0].cells, 3);
    assert_int_equal(verdicts.findings_count, 1);
    assert_string_equal(verdicts.findings[0].id, "accept_ended");
    assert_string_equal(verdicts.findings[0].what,
        "the acceptance at site.cfg:7 ended on 2026-11-29: known");
    one.until = "2026-11-30";
    judge(&one, 1);
    assert_int_equal(verdicts.accepted_count, 3);
    assert_int_equal(verdicts.findings_count, 0);
}

/* What the plan expects of GPU 1 it has not. */
static void expect_lanes(void)
{
    static const char *texts[] = { "32" };
    static struct plan_value lanes = {
        .name = "pcie_width", .texts = texts, .texts_count = 1
    };

    run.plan.expect = &lanes;
    run.plan.expect_count = 1;
    run.facts.gpus[0].pcie.width = 32;
}

static void a_cause_accepts_its_finding_and_the_cells_of_its_link(void **state)
{
    struct plan_accept one = { .device = "1", .cause = "PCIe width" };

    (void)state;
    expect_lanes();
    judge(NULL, 0);
    assert_int_equal(verdicts.exit_code, EXIT_HEALTH);
    judge(&one, 1);
    assert_int_equal(verdicts.findings_count, 1);
    assert_true(verdicts.findings[0].accepted);
    assert_int_equal(verdicts.acceptances[0].findings, 1);
    /* The host's cell of GPU 1, not the pair over NVLink. */
    assert_int_equal(verdicts.accepted_count, 1);
    assert_non_null(verdict_of(SAMPLE_H2D, 0, 1)->accept);
    assert_null(verdict_of(SAMPLE_PEER, 0, 1)->accept);
    assert_int_equal(verdicts.exit_code, EXIT_FAILED);
    one.device = "0";
    judge(&one, 1);
    assert_int_equal(verdicts.accepted_count, 0);
    assert_int_equal(verdicts.exit_code, EXIT_HEALTH);
    one.device = NULL; /* the finding, and no cell */
    judge(&one, 1);
    assert_int_equal(verdicts.accepted_count, 0);
    assert_int_equal(verdicts.exit_code, EXIT_FAILED);
}

/* Both GPUs fail from the host, and the cause was found on one. */
static void a_cause_excuses_no_other_gpu(void **state)
{
    struct plan_accept one = { .match = "*", .cause = "pcie width" };

    (void)state;
    expect_lanes();
    judge(&one, 1);
    assert_int_equal(verdicts.acceptances[0].findings, 1);
    assert_int_equal(verdicts.accepted_count, 1);
    assert_int_equal(verdicts.acceptances[0].cells, 1);
    assert_null(verdict_of(SAMPLE_H2D, 0, 0)->accept);
    assert_non_null(verdict_of(SAMPLE_H2D, 0, 1)->accept);
    /* Once it is found on both, it covers both. */
    run.facts.gpus[0].pcie.width = 16;
    judge(&one, 1);
    assert_int_equal(verdicts.acceptances[0].findings, 2);
    assert_int_equal(verdicts.accepted_count, 2);
}

static void a_cause_of_the_machine_covers_every_gpu(void **state)
{
    struct plan_accept one = { .match = "*", .cause = "driver" };

    (void)state;
    run.facts.driver_trouble = "the driver is too old";
    judge(&one, 1);
    assert_int_equal(verdicts.acceptances[0].findings, 1);
    assert_int_equal(verdicts.accepted_count, 3);
}

/* Its sentence repeats the reason, which is no finding. */
static void an_end_is_no_cause(void **state)
{
    struct plan_accept two[] = {
        { .match = "*", .why = "pcie width", .until = "2026-11-01" },
        { .match = "*", .cause = "pcie width" },
    };

    (void)state;
    judge(two, 2);
    assert_int_equal(verdicts.accepted_count, 0);
    assert_int_equal(verdicts.acceptances[1].findings, 0);
}

static void a_cause_that_is_not_found_accepts_nothing(void **state)
{
    struct plan_accept one = { .device = "1", .cause = "pcie width" };

    (void)state;
    judge(&one, 1);
    assert_int_equal(verdicts.accepted_count, 0);
    assert_int_equal(verdicts.exit_code, EXIT_FAILED);
}

/* Words of a cause against what a diagnosis says. */
static void a_number_in_a_cause_stands_by_itself(void **state)
{
    static const char text[] = "GPU 5 runs in too narrow a PCIe link: width x8 "
                               "of x16, 27.1 GB/s, pcie_width, GPU 10";
    static const struct {
        const char *cause;
        int is_found;
    } cases[] = {
        { "pcie width", 1 },
        { "GPU 5 pcie width", 1 },
        { "width x8", 1 },
        { "narrow GPU 10", 1 },
        { "GPU 1 pcie width", 0 },
        { "GPU 0", 0 },
        { "27", 0 },
        { "27.1", 1 },
        { "width 8", 0 },
        { "x1", 0 },
    };
    const struct finding finding = {
        .id = "other", .gpu = 1, .peer = -1, .what = text
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct plan_accept one = { .cause = cases[i].cause };

        run.plan.accepts = &one;
        run.plan.accepts_count = 1;
        if ((accept_find(&run.plan, &run.facts, NULL, &finding) != NULL) !=
            cases[i].is_found) {
            fail_msg("%s", cases[i].cause);
        }
    }
}

static void wrong_data_is_never_accepted(void **state)
{
    struct plan_accept one = { .match = "*" };

    (void)state;
    sample_state(&run, &arena, SAMPLE_H2D, 0, 0, STATE_MISMATCH, NULL, "wrong");
    sample_state(&run, &arena, SAMPLE_H2D, 0, 1, STATE_MISMATCH, NULL, "wrong");
    run.records[run.records_count - 1].attempt = 9;
    run.records[run.records_count - 2].attempt = 9;
    judge(&one, 1);
    assert_int_equal(verdicts.by_state[STATE_MISMATCH], 2);
    assert_int_equal(verdicts.accepted_count, 1);
    assert_int_equal(verdicts.exit_code, EXIT_FAILED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(all_is_accepted_or_all_fails),
        TEST(only_what_matches_is_accepted),
        TEST(an_entry_ends_with_its_day),
        TEST(a_cause_accepts_its_finding_and_the_cells_of_its_link),
        TEST(a_cause_excuses_no_other_gpu),
        TEST(a_cause_of_the_machine_covers_every_gpu),
        TEST(an_end_is_no_cause),
        TEST(a_cause_that_is_not_found_accepts_nothing),
        TEST(a_number_in_a_cause_stands_by_itself),
        TEST(wrong_data_is_never_accepted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
