/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "trend.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "sample_run.h"

enum { ROUNDS = 12 };

static double x[ROUNDS], y[ROUNDS];
static struct trend trend;

/* One figure of a round, with a scatter that has no slope. */
static double scatter(int round)
{
    static const double part[] = { 0.4, -0.9, 0.7, -0.2, 0.9, -0.7 };

    return part[round % 6];
}

static void fill(double first, double fall_per_round, double noise)
{
    for (int i = 0; i < ROUNDS; i++) {
        x[i] = i;
        y[i] = first * (1.0 - fall_per_round * i + noise * scatter(i));
    }
}

static void a_line_is_found(void **state)
{
    (void)state;
    fill(50e9, 0.01, 0.0);
    assert_true(trend_of(x, y, ROUNDS, NVBW_HIGHER, &trend));
    assert_true(fabs(trend.change + 0.11) < 1e-9);
    assert_true(fabs(trend.first / 50e9 - 1.0) < 1e-9);
    assert_true(fabs(trend.high - trend.low) < 1e-6);
    assert_int_equal(trend.rounds, ROUNDS);
}

static void scatter_is_no_fall(void **state)
{
    (void)state;
    fill(50e9, 0.0, 0.05);
    assert_true(trend_of(x, y, ROUNDS, NVBW_HIGHER, &trend));
    assert_true(trend.low < 0.0 && trend.high > 0.0);
    fill(50e9, 0.01, 0.005);
    assert_true(trend_of(x, y, ROUNDS, NVBW_HIGHER, &trend));
    assert_true(trend.high < 0.0);
}

/* The last round has a hiccup, however large. */
static void one_slow_round_is_no_fall(void **state)
{
    (void)state;
    for (int i = 1; i < 10; i++) {
        fill(50e9, 0.0, 0.001);
        y[ROUNDS - 1] *= 1.0 - 0.1 * i;
        assert_true(trend_of(x, y, ROUNDS, NVBW_HIGHER, &trend));
        assert_true(trend.high > 0.0);
    }
}

static void a_longer_latency_is_a_fall(void **state)
{
    (void)state;
    fill(800.0, -0.01, 0.001);
    assert_true(trend_of(x, y, ROUNDS, NVBW_LOWER, &trend));
    assert_true(trend.change < -0.1 && trend.high < 0.0);
}

static void few_rounds_tell_nothing(void **state)
{
    (void)state;
    fill(50e9, 0.01, 0.0);
    assert_false(trend_of(x, y, TREND_ROUNDS_LEAST - 1, NVBW_HIGHER, &trend));
    assert_true(trend_of(x, y, TREND_ROUNDS_LEAST, NVBW_HIGHER, &trend));
    memset(y, 0, sizeof y);
    assert_false(trend_of(x, y, ROUNDS, NVBW_HIGHER, &trend));
}

/* ---- of a run ---- */

static struct arena arena;
static struct evidence run;
static struct verdicts verdicts;

static void add_round(uint32_t round, double first_gpu, double latency)
{
    struct error err = { 0 };

    for (uint32_t i = 0; round > 0 && i < SAMPLE_UNITS; i++) {
        struct unit unit = run.units[i];

        unit.id = run.units_count;
        unit.round = round;
        assert_int_equal(evidence_add(&run, &arena, LINE_UNIT, &unit, &err), 0);
    }
    for (uint32_t i = 0; i < SAMPLE_UNITS; i++) {
        for (uint32_t k = 0; k < run.records_count; k++) {
            struct record record = run.records[k];

            if (round > 0 && record.unit == i) {
                record.unit += round * SAMPLE_UNITS;
                assert_int_equal(
                    evidence_add(&run, &arena, LINE_CELL, &record, &err), 0);
            }
        }
    }
    sample_figure(
        &run, &arena, round * SAMPLE_UNITS + SAMPLE_H2D, 0, 0, 0, first_gpu);
    sample_figure(
        &run, &arena, round * SAMPLE_UNITS + SAMPLE_LATENCY, 0, 0, 0, latency);
}

static void judge(void)
{
    struct error err = { 0 };

    if (judge_run(&run, &arena, &verdicts, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

static const struct finding *fall_found(void)
{
    for (uint32_t i = 0; i < verdicts.findings_count; i++) {
        if (strcmp(verdicts.findings[i].id, "falls") == 0) {
            return &verdicts.findings[i];
        }
    }
    return NULL;
}

static void a_run_of_rounds_has_trends(void **state)
{
    (void)state;
    arena_init(&arena, 64 << 20);
    sample_run(&run, &arena);
    for (uint32_t i = 0; i < 8; i++) {
        add_round(i, 55.44e9 * (1.0 - 0.02 * i), 800.0);
    }
    judge();
    assert_int_equal(verdicts.trends_count, 6);
    assert_true(verdicts.trends[0].is_fall);
    assert_int_equal(verdicts.trends[0].rounds, 8);
    for (uint32_t i = 1; i < 6; i++) {
        assert_false(verdicts.trends[i].is_fall);
    }
    assert_non_null(fall_found());
    assert_non_null(strstr(fall_found()->what, "over 8 rounds"));
    arena_clear(&arena);
}

/* Rounds in which GPU 0's copies from the host fall by 14 % and more. */
static void fall_of_gpu_0(double pairs_fall)
{
    arena_init(&arena, 64 << 20);
    run = (struct evidence){ 0 };
    sample_run(&run, &arena);
    for (uint32_t i = 0; i < 8; i++) {
        add_round(i, 55.44e9 * (1.0 - 0.02 * i), 800.0);
        sample_figure(&run, &arena, i * SAMPLE_UNITS + SAMPLE_PEER, 0, 1, 0,
            396.4e9 * (1.0 - pairs_fall * i));
    }
}

/* Each cell took part with the GPUs that it is about. */
static void name_gpus(uint32_t *pair)
{
    static uint32_t gpu_0[] = { 0 };

    for (uint32_t i = 0; i < run.records_count; i++) {
        struct record *const record = &run.records[i];
        const uint32_t unit = record->unit % SAMPLE_UNITS;

        if (unit == SAMPLE_H2D && record->col == 0) {
            record->gpus = gpu_0;
            record->gpus_count = 1;
        } else if (unit == SAMPLE_PEER) {
            record->gpus = pair;
            record->gpus_count = 2;
        }
    }
}

static uint32_t falls_found(void)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < verdicts.findings_count; i++) {
        count += strcmp(verdicts.findings[i].id, "falls") == 0;
    }
    return count;
}

/* A pair falls because of the GPU that falls alone, other pairs do not. */
static void a_gpu_hides_only_its_own_pairs(void **state)
{
    static uint32_t with_it[] = { 1, 0 };
    static uint32_t without_it[] = { 1, 2 };

    (void)state;
    fall_of_gpu_0(0.04);
    name_gpus(with_it);
    judge();
    assert_int_equal(falls_found(), 1);
    assert_int_equal(fall_found()->gpu, 0);
    name_gpus(without_it);
    judge();
    assert_int_equal(falls_found(), 2);

    const struct finding *const other = fall_found() + 1;

    assert_int_equal(other->gpu, -1);
    assert_non_null(strstr(other->what, "device_to_device_memcpy_write_ce by"));
    arena_clear(&arena);
}

static void steady_rounds_have_no_finding(void **state)
{
    (void)state;
    arena_init(&arena, 64 << 20);
    run = (struct evidence){ 0 };
    sample_run(&run, &arena);
    for (uint32_t i = 0; i < 8; i++) {
        add_round(i, 55.44e9 * (1.0 + 0.001 * scatter((int)i)), 800.0);
    }
    judge();
    assert_int_equal(verdicts.trends_count, 6);
    assert_null(fall_found());
    arena_clear(&arena);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_found),
        cmocka_unit_test(scatter_is_no_fall),
        cmocka_unit_test(one_slow_round_is_no_fall),
        cmocka_unit_test(a_longer_latency_is_a_fall),
        cmocka_unit_test(few_rounds_tell_nothing),
        cmocka_unit_test(a_run_of_rounds_has_trends),
        cmocka_unit_test(a_gpu_hides_only_its_own_pairs),
        cmocka_unit_test(steady_rounds_have_no_finding),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
