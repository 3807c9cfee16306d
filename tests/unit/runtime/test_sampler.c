/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The sampler against a backend that plays a script. */
#include "sampler.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "state.h"

enum { SCRIPT_MOST = 64 };

/* What the backend does at each call of sample; the last entry repeats. */
struct play {
    struct {
        enum sample_state state;
        double seconds_per_copy;
    } script[SCRIPT_MOST];
    uint32_t script_count;
    uint32_t calls, prepares, verifies, opens, closes;
    uint64_t copies;
    double background;
    uint64_t copies_most; /* memory for no more */
    uint32_t wrong_at;    /* the n-th verify finds wrong words; 0: never */
    int32_t fail_open, fail_sample;
    int64_t fail_code;
};

static int32_t fake_open(struct session *session, struct error *err)
{
    struct play *const play = session->state;

    play->opens++;
    if (play->fail_open < 0) {
        error_set(err, play->fail_open, "no such memory");
        err->code = play->fail_code;
    }
    return play->fail_open;
}

static int32_t fake_prepare(struct session *session, uint64_t copies,
    double background, struct error *err)
{
    struct play *const play = session->state;

    play->prepares++;
    if (copies > play->copies_most) {
        error_set(err, NVBW_E_SKIPPED, "%d MiB wanted", (int)copies);
        err->code = NVBW_SKIP_MEMORY;
        return NVBW_E_SKIPPED;
    }
    play->copies = copies;
    play->background = background;
    return NVBW_OK;
}

static int32_t fake_sample(
    struct session *session, struct sample *out, struct error *err)
{
    struct play *const play = session->state;
    const uint32_t last = play->script_count - 1;
    const uint32_t at = play->calls < last ? play->calls : last;

    play->calls++;
    if (play->fail_sample < 0) {
        return error_set(err, play->fail_sample, "the driver failed");
    }
    out->state = play->script[at].state;
    out->seconds = play->script[at].seconds_per_copy * (double)play->copies;
    out->clock_gap_ns = 3000.0;
    out->cover_margin = 0.25;
    for (uint32_t i = 0; i < session->targets_count; i++) {
        out->figures[i] = (struct sample_figure){ .seconds = out->seconds,
            .amount = 1e8 * (double)play->copies };
    }
    return NVBW_OK;
}

static int32_t fake_verify(struct session *session, struct error *err)
{
    struct play *const play = session->state;

    (void)err;
    if (++play->verifies == play->wrong_at) {
        session->targets[0].record->mismatches = 7;
        session->targets[0].record->mismatch_offset = 4096;
    }
    return NVBW_OK;
}

static void fake_close(struct session *session)
{
    ((struct play *)session->state)->closes++;
}

static const struct backend fake = { .name = "fake",
    .clock = "events",
    .open = fake_open,
    .prepare = fake_prepare,
    .sample = fake_sample,
    .verify = fake_verify,
    .close = fake_close };

struct scene {
    struct arena arena;
    struct play play;
    struct record records[2];
    struct target targets[2];
    struct measure_request request;
    struct session session;
    struct error err;
};

static int setup(void **state)
{
    static struct scene scene;

    memset(&scene, 0, sizeof scene);
    arena_init(&scene.arena, 1 << 20);
    scene.play = (struct play){ .script = { { SAMPLE_GOOD, 0.002 } },
        .script_count = 1,
        .copies_most = UINT64_MAX };
    for (uint32_t i = 0; i < 2; i++) {
        record_init(&scene.records[i]);
        scene.targets[i] = (struct target){ .record = &scene.records[i],
            .unit = NVBW_UNIT_BYTES_PER_SECOND };
    }
    scene.session = (struct session){ .request = &scene.request,
        .arena = &scene.arena,
        .backend = &fake,
        .targets = scene.targets,
        .targets_count = 1,
        .params = { .min_samples = 8,
            .max_samples = 15,
            .precision = 0.005,
            .precision_contended = 0.02,
            .verify = 1 },
        .state = &scene.play };
    *state = &scene;
    return 0;
}

static int teardown(void **state)
{
    struct scene *const scene = *state;

    arena_clear(&scene->arena);
    return 0;
}

static void again(void **state)
{
    teardown(state);
    setup(state);
}

static void run(struct scene *scene)
{
    assert_int_equal(sampler_run(&scene->session, &scene->err), NVBW_OK);
    assert_int_equal(scene->play.opens, 1);
}

static int has_flag(const struct record *record, const char *flag)
{
    for (uint32_t i = 0; i < record->flags_count; i++) {
        if (strcmp(record->flags[i], flag) == 0) {
            return 1;
        }
    }
    return 0;
}

static void add(struct scene *scene, enum sample_state state, double seconds)
{
    struct play *const play = &scene->play;

    assert_true(play->script_count < SCRIPT_MOST);
    play->script[play->script_count].state = state;
    play->script[play->script_count].seconds_per_copy = seconds;
    play->script_count++;
}

static void looks_are_cut_to_the_bounds(void **state)
{
    (void)state;
    assert_int_equal(sampler_next_look(0, 8, 15), 8);
    assert_int_equal(sampler_next_look(8, 8, 15), 12);
    assert_int_equal(sampler_next_look(12, 8, 15), 15);
    assert_int_equal(sampler_next_look(15, 8, 15), 0);
    assert_int_equal(sampler_next_look(0, 10, 11), 10);
    assert_int_equal(sampler_next_look(10, 10, 11), 11);
    assert_int_equal(sampler_next_look(0, 6, 6), 6);
    assert_int_equal(sampler_next_look(6, 6, 6), 0);
    assert_int_equal(sampler_next_look(15, 8, 100), 100);
}

static void copies_fill_four_milliseconds(void **state)
{
    (void)state;
    assert_int_equal(sampler_copies(0.0005, 1, 4, 200), 8);
    assert_int_equal(sampler_copies(0.1, 1, 4, 200), 4);
    assert_int_equal(sampler_copies(1e-6, 1, 4, 200), 200);
    assert_int_equal(sampler_copies(0.0, 1, 4, 200), 200);
    assert_int_equal(sampler_copies(0.002, 4, 4, 200), 8);
}

static void figures_have_the_unit_of_their_metric(void **state)
{
    const struct sample_figure figure = { .seconds = 0.5, .amount = 1e9 };

    (void)state;
    assert_true(sampler_value(NVBW_UNIT_BYTES_PER_SECOND, &figure) == 2e9);
    assert_true(sampler_value(NVBW_UNIT_NANOSECONDS, &figure) == 0.5);
}

static void steady_samples_stop_at_the_first_look(void **state)
{
    struct scene *const scene = *state;
    const struct record *const record = &scene->records[0];

    run(scene);
    assert_int_equal(record->state, STATE_MEASURED);
    assert_int_equal(record->samples_count, 8);
    assert_int_equal(record->flags_count, 0);
    assert_int_equal(record->discarded, 0);
    assert_int_equal(scene->play.verifies, 8);
    assert_int_equal(scene->play.closes, 1);
    assert_true(record->samples[7] == 1e8 / 0.002);
    assert_true(record->pilot_spread == 0.0);
    assert_true(record->precision == 0.005);
    assert_true(record->cover_margin == 0.25);
    assert_true(record->clock_gap_ns == 3000.0);
}

static void scattered_samples_go_on_and_are_imprecise(void **state)
{
    struct scene *const scene = *state;
    const struct record *const record = &scene->records[0];

    scene->play.script_count = 4;
    for (uint32_t i = 0; i < 4; i++) {
        scene->play.script[i].seconds_per_copy = 0.002;
    }
    for (uint32_t i = 0; i < 15; i++) {
        add(scene, SAMPLE_GOOD, i % 2 == 0 ? 0.002 : 0.0022);
    }
    run(scene);
    assert_int_equal(record->state, STATE_MEASURED);
    assert_int_equal(record->samples_count, 15);
    assert_true(has_flag(record, "imprecise"));
}

static void contended_cells_stop_at_eight(void **state)
{
    struct scene *const scene = *state;

    scene->session.contended = 1;
    for (uint32_t i = 0; i < 30; i++) {
        add(scene, SAMPLE_GOOD, i % 2 == 0 ? 0.002 : 0.0022);
    }
    run(scene);
    assert_int_equal(scene->records[0].samples_count, 8);
    assert_true(scene->records[0].precision == 0.02);
}

static void a_restless_pilot_is_unsettled(void **state)
{
    struct scene *const scene = *state;

    for (uint32_t i = 0; i < 8; i++) {
        add(scene, SAMPLE_GOOD, 0.0022 - 0.0002 * (i % 2));
    }
    add(scene, SAMPLE_GOOD, 0.002);
    run(scene);
    assert_int_equal(scene->records[0].state, STATE_MEASURED);
    assert_true(has_flag(&scene->records[0], "unsettled"));
    assert_true(scene->records[0].pilot_spread > 0.01);
}

/* The sample that showed the size to be right is a pilot like the others. */
static void two_pilots_that_agree_are_enough(void **state)
{
    struct scene *const scene = *state;

    run(scene);
    assert_int_equal(scene->play.calls, 2 + 8);
    assert_true(scene->records[0].pilot_spread == 0.0);
}

static void two_gate_timeouts_in_a_row_are_an_error(void **state)
{
    struct scene *const scene = *state;

    add(scene, SAMPLE_GATE_TIMEOUT, 0.002);
    run(scene);
    assert_int_equal(scene->records[0].state, STATE_ERROR);
    assert_string_equal(scene->records[0].reason, "gate_timeout");
    assert_non_null(scene->records[0].message);
    assert_int_equal(scene->play.closes, 1);
}

static void one_gate_timeout_is_discarded(void **state)
{
    struct scene *const scene = *state;

    add(scene, SAMPLE_GATE_TIMEOUT, 0.002);
    add(scene, SAMPLE_GOOD, 0.002);
    run(scene);
    assert_int_equal(scene->records[0].state, STATE_MEASURED);
    assert_int_equal(scene->records[0].discarded, 1);
}

static void uncovered_samples_raise_the_background(void **state)
{
    struct scene *const scene = *state;

    add(scene, SAMPLE_UNCOVERED, 0.002);
    add(scene, SAMPLE_UNCOVERED, 0.002);
    add(scene, SAMPLE_UNCOVERED, 0.002);
    add(scene, SAMPLE_GOOD, 0.002);
    run(scene);
    assert_int_equal(scene->records[0].state, STATE_MEASURED);
    assert_int_equal(scene->records[0].discarded, 3);
    assert_true(scene->play.background == 1.5 * 1.5 * 1.5);
}

static void never_covered_is_invalid(void **state)
{
    struct scene *const scene = *state;

    add(scene, SAMPLE_UNCOVERED, 0.002);
    run(scene);
    assert_int_equal(scene->records[0].state, STATE_INVALID);
    assert_string_equal(scene->records[0].reason, "interference_missing");
    assert_int_equal(scene->play.calls, 5);
}

static void disagreeing_clocks_are_invalid(void **state)
{
    struct scene *const scene = *state;

    add(scene, SAMPLE_CLOCK, 0.002);
    run(scene);
    assert_int_equal(scene->records[0].state, STATE_INVALID);
    assert_string_equal(scene->records[0].reason, "clock");
    assert_non_null(strstr(scene->records[0].message, "3 us"));
}

static void a_host_that_was_away_looks_again(void **state)
{
    struct scene *const scene = *state;

    for (uint32_t i = 0; i < 4; i++) {
        add(scene, SAMPLE_UNWATCHED, 0.002);
    }
    add(scene, SAMPLE_GOOD, 0.002);
    run(scene);
    assert_int_equal(scene->records[0].state, STATE_MEASURED);
    assert_int_equal(scene->records[0].discarded, 4);
}

static void a_host_that_is_always_away_is_invalid(void **state)
{
    struct scene *const scene = *state;

    add(scene, SAMPLE_UNWATCHED, 0.002);
    run(scene);
    assert_int_equal(scene->records[0].state, STATE_INVALID);
    assert_string_equal(scene->records[0].reason, "clock");
    assert_non_null(strstr(scene->records[0].message, "lost its CPU"));
    assert_int_equal(scene->play.calls, 6);
}

static void serialised_flows_are_invalid(void **state)
{
    struct scene *const scene = *state;

    add(scene, SAMPLE_SERIALISED, 0.002);
    run(scene);
    assert_int_equal(scene->records[0].state, STATE_INVALID);
    assert_string_equal(scene->records[0].reason, "serialised");
}

static void wrong_words_are_a_mismatch(void **state)
{
    struct scene *const scene = *state;
    const struct record *const record = &scene->records[0];

    scene->play.wrong_at = 3;
    run(scene);
    assert_int_equal(record->state, STATE_MISMATCH);
    assert_string_equal(record->reason, "wrong_data");
    assert_int_equal(record->samples_count, 3);
    assert_non_null(strstr(record->message, "7 wrong words"));
    assert_non_null(strstr(record->message, "4096"));
}

static void a_mismatch_of_one_flow_leaves_the_other(void **state)
{
    struct scene *const scene = *state;

    scene->session.targets_count = 2;
    scene->play.wrong_at = 3;
    run(scene);
    assert_int_equal(scene->records[0].state, STATE_MISMATCH);
    assert_int_equal(scene->records[0].samples_count, 3);
    assert_int_equal(scene->records[1].state, STATE_MEASURED);
    assert_int_equal(scene->records[1].samples_count, 8);
}

static void fixed_mode_takes_what_it_is_told(void **state)
{
    struct scene *const scene = *state;
    const struct record *const record = &scene->records[0];

    scene->session.params.fixed = 1;
    scene->session.params.copies = 16;
    scene->session.params.samples = 3;
    run(scene);
    assert_int_equal(record->state, STATE_MEASURED);
    assert_int_equal(record->samples_count, 3);
    assert_int_equal(scene->play.copies, 16);
    assert_int_equal(scene->play.calls, 3);
    assert_int_equal(record->flags_count, 0);
    assert_true(isnan(record->precision));
    assert_true(isnan(record->pilot_spread));
}

static void little_memory_means_short_samples(void **state)
{
    struct scene *const scene = *state;

    scene->play.script[0].seconds_per_copy = 0.0001;
    scene->play.copies_most = 12;
    run(scene);
    assert_int_equal(scene->records[0].state, STATE_MEASURED);
    assert_int_equal(scene->play.copies, 10);
    assert_true(has_flag(&scene->records[0], "short"));
}

static void no_memory_at_all_is_a_skip(void **state)
{
    struct scene *const scene = *state;

    scene->play.copies_most = 0;
    run(scene);
    assert_int_equal(scene->records[0].state, STATE_SKIP);
    assert_string_equal(scene->records[0].reason, "memory");
    assert_string_equal(scene->records[0].message, "1 MiB wanted");
}

static void failures_settle_every_target(void **state)
{
    struct scene *const scene = *state;

    scene->session.targets_count = 2;
    scene->play.fail_open = NVBW_E_SKIPPED;
    scene->play.fail_code = NVBW_SKIP_NO_FABRIC;
    run(scene);
    assert_int_equal(scene->records[1].state, STATE_SKIP);
    assert_string_equal(scene->records[1].reason, "no_fabric");
    assert_int_equal(scene->play.closes, 0);

    again(state);
    scene->play.fail_sample = NVBW_E_CUDA;
    run(scene);
    assert_string_equal(scene->records[0].reason, "driver");
    assert_int_equal(scene->play.closes, 1);

    again(state);
    scene->play.fail_open = NVBW_E_INVALID;
    run(scene);
    assert_int_equal(scene->records[0].state, STATE_ERROR);
    assert_string_equal(scene->records[0].reason, "contract");
}

static int stop(void *user)
{
    return ++*(int *)user > 6;
}

static void a_cancel_ends_it_unsettled(void **state)
{
    struct scene *const scene = *state;
    int asked = 0;

    scene->request.cancelled = stop;
    scene->request.user = &asked;
    assert_int_equal(
        sampler_run(&scene->session, &scene->err), NVBW_E_CANCELLED);
    assert_int_equal(scene->records[0].state, STATE_NONE);
    assert_int_equal(scene->play.closes, 1);
}

static void a_slope_is_drift(void **state)
{
    struct scene *const scene = *state;

    for (uint32_t i = 0; i < 12; i++) {
        add(scene, SAMPLE_GOOD, 0.002 * (1.0 + 0.004 * i));
    }
    run(scene);
    assert_true(has_flag(&scene->records[0], "drift"));
}

#define CASE(function)                                                         \
    cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(looks_are_cut_to_the_bounds),
        CASE(copies_fill_four_milliseconds),
        CASE(figures_have_the_unit_of_their_metric),
        CASE(steady_samples_stop_at_the_first_look),
        CASE(scattered_samples_go_on_and_are_imprecise),
        CASE(contended_cells_stop_at_eight),
        CASE(a_restless_pilot_is_unsettled),
        CASE(two_pilots_that_agree_are_enough),
        CASE(two_gate_timeouts_in_a_row_are_an_error),
        CASE(one_gate_timeout_is_discarded),
        CASE(uncovered_samples_raise_the_background),
        CASE(never_covered_is_invalid),
        CASE(disagreeing_clocks_are_invalid),
        CASE(a_host_that_was_away_looks_again),
        CASE(a_host_that_is_always_away_is_invalid),
        CASE(serialised_flows_are_invalid),
        CASE(wrong_words_are_a_mismatch),
        CASE(a_mismatch_of_one_flow_leaves_the_other),
        CASE(fixed_mode_takes_what_it_is_told),
        CASE(little_memory_means_short_samples),
        CASE(no_memory_at_all_is_a_skip),
        CASE(failures_settle_every_target),
        CASE(a_cancel_ends_it_unsettled),
        CASE(a_slope_is_drift),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
