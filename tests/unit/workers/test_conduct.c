/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* C12, C14, C17 to C21: whatever a worker does, every planned cell is settled
 * once, in the right state, and nothing is left behind. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "host_clock.h"
#include "stage.h"
#include "state.h"

enum { CELLS = 4 };
static const uint64_t SHORT_NS = 2000000000u;

/* Runs one unit of CELLS cells. */
static void play(struct stage *stage, const char *name)
{
    stage_open(stage);
    stage_add_unit(stage, name, CELLS);
    stage_run(stage);
}

static void expect_others_measured(const struct stage *stage, uint32_t but)
{
    for (uint32_t cell = 0; cell < CELLS; cell++) {
        assert_int_equal(stage_count(stage, 0, cell, 0), 1);
        if (cell != but) {
            stage_expect(stage, 0, cell, STATE_MEASURED, NULL);
        }
    }
}

static void expect_message(
    const struct stage *stage, uint32_t cell, const char *part)
{
    const char *const message = stage_record(stage, 0, cell)->message;

    if (message == NULL || strstr(message, part) == NULL) {
        fail_msg(
            "\"%s\" does not say \"%s\"", message != NULL ? message : "", part);
    }
}

static void test_all_well(void **state)
{
    struct stage stage;

    (void)state;
    play(&stage, "well");
    expect_others_measured(&stage, CELLS);
    assert_int_equal(stage.evidence.ended, 1);
    assert_int_equal(stage.evidence.end.interrupted, 0);
    stage_close(&stage);
}

static const struct misdeed {
    const char *name;
    uint32_t cell, state;
    const char *reason, *says;
} misdeeds[] = {
    { "crash@2", 2, STATE_CRASH, NULL, "signal 11 (segmentation fault)" },
    { "exit@2", 2, STATE_CRASH, NULL, "exited with status 0 without a word" },
    { "garbage@2", 2, STATE_ERROR, "protocol", "no magic number" },
    { "huge@2", 2, STATE_ERROR, "protocol", "more than a frame may have" },
    { "family@2", 2, STATE_CRASH, NULL, "signal 11" },
    { "silent@2", 2, STATE_ERROR, "unsettled", "plugin silent@2" },
    { "badstate@2", 2, STATE_ERROR, "protocol", "state pass" },
    { "poisoned@2", 2, STATE_ERROR, NULL, NULL },
    { "session@2", 2, STATE_MEASURED, NULL, NULL },
    { "flood@2", 2, STATE_MEASURED, NULL, NULL },
};

static void test_misdeeds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof misdeeds / sizeof misdeeds[0]; i++) {
        const struct misdeed *const deed = &misdeeds[i];
        struct stage stage;

        play(&stage, deed->name);
        stage_expect(&stage, 0, deed->cell, deed->state, deed->reason);
        expect_others_measured(&stage, deed->cell);
        if (deed->says != NULL) {
            expect_message(&stage, deed->cell, deed->says);
        }
        stage_close(&stage);
    }
}

/* A worker that settles a cell twice is cut off; the cell keeps what came
 * first, and the next one bears the fault. */
static void test_twice(void **state)
{
    struct stage stage;

    (void)state;
    play(&stage, "twice@1");
    stage_expect(&stage, 0, 1, STATE_MEASURED, NULL);
    stage_expect(&stage, 0, 2, STATE_ERROR, "protocol");
    expect_others_measured(&stage, 2);
    stage_close(&stage);
}

/* Cell 0 is settled already when the task for the rest comes. */
static void test_unwanted(void **state)
{
    struct stage stage;

    (void)state;
    play(&stage, "unwanted@3");
    stage_expect(&stage, 0, 3, STATE_ERROR, "protocol");
    expect_message(&stage, 3, "settled twice, or without being asked for");
    expect_others_measured(&stage, 3);
    stage_close(&stage);
}

static void play_hang(struct stage *stage, const char *name)
{
    stage_open(stage);
    stage->setup.answer_ns = SHORT_NS;
    stage_add_unit(stage, name, CELLS)->timeout_ns = SHORT_NS;
    stage_run(stage);
    stage_expect(stage, 0, 1, STATE_TIMEOUT, NULL);
    expect_others_measured(stage, 1);
    stage_close(stage);
}

static void test_hang(void **state)
{
    struct stage stage;

    (void)state;
    play_hang(&stage, "hang@1");
}

static void test_ignores_sigterm(void **state)
{
    struct stage stage;

    (void)state;
    play_hang(&stage, "stubborn@1");
}

/* The end of its pipe is not the end of the worker: it is a hang. */
static void test_end_of_file(void **state)
{
    struct stage stage;

    (void)state;
    play_hang(&stage, "eof@1");
}

static void test_three_barren_ends(void **state)
{
    struct stage stage;

    (void)state;
    play(&stage, "always");
    stage_expect(&stage, 0, 0, STATE_CRASH, NULL);
    stage_expect(&stage, 0, 1, STATE_CRASH, NULL);
    stage_expect(&stage, 0, 2, STATE_CRASH, NULL);
    stage_expect(&stage, 0, 3, STATE_NOT_RUN, "worker_ends");
    stage_close(&stage);
}

static void test_dies_before_first_cell(void **state)
{
    struct stage stage;

    (void)state;
    play(&stage, "early");
    stage_expect(&stage, 0, 0, STATE_CRASH, NULL);
    stage_expect(&stage, 0, 3, STATE_NOT_RUN, "worker_ends");
    stage_close(&stage);
}

static void test_wrong_build(void **state)
{
    struct stage stage;

    (void)state;
    setenv("NVBW_FAKE_BUILD", "1", 1);
    play(&stage, "well");
    unsetenv("NVBW_FAKE_BUILD");
    for (uint32_t cell = 0; cell < CELLS; cell++) {
        stage_expect(&stage, 0, cell, STATE_ERROR, "system");
        expect_message(&stage, cell, "of build \"another\"");
    }
    stage_close(&stage);
}

static void test_no_worker(void **state)
{
    struct stage stage;

    (void)state;
    stage_open(&stage);
    stage.setup.worker_file = "/nonexistent/nvbw-worker";
    stage_add_unit(&stage, "well", CELLS);
    stage_run(&stage);
    stage_expect(&stage, 0, 0, STATE_ERROR, "system");
    expect_message(&stage, 0, "/nonexistent/nvbw-worker");
    stage_close(&stage);
}

/* Settled cells go with the task of the next worker, the one that crashed
 * among them. */
static void test_settled_go_along(void **state)
{
    struct stage stage;

    (void)state;
    play(&stage, "crash@2");
    assert_true(stage_record(&stage, 0, 1)->samples[1] == 0);
    assert_true(stage_record(&stage, 0, 3)->samples[1] == 3);
    stage_close(&stage);
}

/* ---- sharing workers ---- */

static double pid_of(const struct stage *stage, uint32_t unit)
{
    return stage_record(stage, unit, 0)->samples[0];
}

static void play_two(
    struct stage *stage, const char *isolate, uint32_t installed)
{
    struct plugin_schema plugins[] = {
        { .name = "one", .file = "/fake/one.so", .installed = installed },
        { .name = "two", .file = "/fake/two.so", .installed = installed },
    };

    stage_open(stage);
    stage->evidence.plugins = plugins;
    stage->evidence.plugins_count = 2;
    stage_add_unit(stage, "one", 1);
    stage_add_unit(stage, "two", 1);
    stage_add_unit(stage, "two", 1);
    for (uint32_t i = 0; i < 3; i++) {
        stage->evidence.units[i].isolate = isolate;
    }
    stage->evidence.units[2].testcase = "other";
    stage_run(stage);
}

static void test_isolate(void **state)
{
    static const struct {
        const char *isolate;
        uint32_t installed;
        int one_two, two_two; /* 1: they share a worker */
    } cases[] = {
        { "auto", 1, 1, 1 },
        { "auto", 0, 0, 1 },
        { "run", 0, 1, 1 },
        { "plugin", 1, 0, 1 },
        { "testcase", 1, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct stage stage;

        play_two(&stage, cases[i].isolate, cases[i].installed);
        assert_int_equal(
            pid_of(&stage, 0) == pid_of(&stage, 1), cases[i].one_two);
        assert_int_equal(
            pid_of(&stage, 1) == pid_of(&stage, 2), cases[i].two_two);
        stage_close(&stage);
    }
}

/* A worker that leaves after its task harms nobody else's cells. */
static void test_leaves_between_units(void **state)
{
    struct stage stage;

    (void)state;
    stage_open(&stage);
    for (int i = 0; i < 4; i++) {
        stage_add_unit(&stage, "leaver", 1)->isolate = "run";
    }
    stage_run(&stage);
    for (uint32_t i = 0; i < 4; i++) {
        stage_expect(&stage, i, 0, STATE_MEASURED, NULL);
    }
    stage_close(&stage);
}

/* ---- attempts ---- */

static void test_confirm(void **state)
{
    struct stage stage;

    (void)state;
    stage_open(&stage);
    stage_add_unit(&stage, "well", CELLS)->confirm = 2;
    stage_judge(1, 5);
    stage_run(&stage);
    assert_int_equal(stage_count(&stage, 0, 1, 0), 1);
    assert_int_equal(stage_count(&stage, 0, 1, 1), 1);
    assert_int_equal(stage_count(&stage, 0, 1, 2), 1);
    assert_int_equal(stage_count(&stage, 0, 1, 3), 0);
    assert_int_equal(stage_count(&stage, 0, 0, 1), 0);
    stage_close(&stage);
}

/* The host was killed when it had confirmed cell 1 and not yet cell 0, whose
 * failures count as before. */
static void test_confirm_goes_on(void **state)
{
    struct stage stage;

    (void)state;
    stage_open(&stage);
    stage_add_unit(&stage, "well", CELLS)->confirm = 2;
    stage_judge(1, 5);
    stage_run(&stage);
    stage_judge(0, 5);
    stage_run(&stage);
    assert_int_equal(stage_count(&stage, 0, 0, 0), 1);
    assert_int_equal(stage_count(&stage, 0, 0, 1), 1);
    assert_int_equal(stage_count(&stage, 0, 0, 2), 1);
    assert_int_equal(stage_count(&stage, 0, 0, 3), 0);
    assert_int_equal(stage_count(&stage, 0, 1, 3), 0);
    stage_close(&stage);
}

static void test_resume(void **state)
{
    struct stage stage;

    (void)state;
    play(&stage, "well");
    stage.evidence.records[1].state = STATE_NOT_RUN;
    stage.evidence.records[2].state = STATE_CANCELLED;
    stage_run(&stage);
    assert_int_equal(stage_count(&stage, 0, 0, 0), 1);
    assert_int_equal(stage_count(&stage, 0, 1, 0), 2);
    assert_int_equal(stage_count(&stage, 0, 2, 0), 2);
    stage_close(&stage);
}

static void test_rerun_failed(void **state)
{
    struct stage stage;

    (void)state;
    play(&stage, "well");
    stage_judge(3, 0);
    stage.request.rerun_failed = 1;
    stage_run(&stage);
    assert_int_equal(stage_count(&stage, 0, 3, 1), 1);
    assert_int_equal(stage_count(&stage, 0, 2, 1), 0);
    assert_int_equal(
        stage.evidence.records[stage.evidence.records_count - 1].series, 1);
    assert_int_equal(stage.evidence.records[0].series, 0);
    stage_close(&stage);
}

static void test_known_state(void **state)
{
    struct stage stage;

    (void)state;
    stage_open(&stage);

    struct unit *const unit = stage_add_unit(&stage, "well", CELLS);

    unit->state = STATE_SKIP;
    unit->reason = "no_nvlink";
    unit->message = "there is none";
    stage_run(&stage);
    for (uint32_t cell = 0; cell < CELLS; cell++) {
        stage_expect(&stage, 0, cell, STATE_SKIP, "no_nvlink");
    }
    stage_close(&stage);
}

static void test_text_axis(void **state)
{
    struct stage stage;

    (void)state;
    stage_open(&stage);
    stage_add_unit(&stage, "well", 1)->open_axes = 1;
    stage_add_unit(&stage, "unrecorded", 1)->open_axes = 1;
    stage_run(&stage);
    stage_expect(&stage, 0, 1, STATE_MEASURED, NULL);
    assert_int_equal(stage.evidence.units_count, 2);
    stage_expect(&stage, 1, 0, STATE_CRASH, NULL);
    stage_close(&stage);
}

/* ---- cutting short ---- */

static void test_budget(void **state)
{
    struct stage stage;

    (void)state;
    stage_open(&stage);
    stage.request.budget_ns = SHORT_NS;
    stage_add_unit(&stage, "stubborn@1", CELLS);
    stage_add_unit(&stage, "well", 1);
    stage_run(&stage);
    stage_expect(&stage, 0, 1, STATE_CANCELLED, NULL);
    expect_message(&stage, 1, "budget");
    stage_expect(&stage, 0, 2, STATE_NOT_RUN, "budget");
    stage_expect(&stage, 1, 0, STATE_NOT_RUN, "budget");
    assert_int_equal(stage.evidence.end.budget_used, 1);
    stage_close(&stage);
}

struct stopper {
    uint32_t at_row, signals;
};

static void stop_at(
    void *user, const struct unit *unit, const struct begin_frame *begin)
{
    const struct stopper *const stopper = user;

    (void)unit;
    for (uint32_t i = 0;
         begin->cells[0] == stopper->at_row && i < stopper->signals; i++) {
        kill(getpid(), i == 0 ? SIGINT : SIGTERM);
    }
}

static void play_stop(uint32_t signals)
{
    struct stage stage;
    struct stopper stopper = { .at_row = 1, .signals = signals };
    const struct conduct_watch watch = { .user = &stopper,
        .cells_begin = stop_at };
    sigset_t set;

    stage_open(&stage);
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    stage.request.signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    stage.request.watch = &watch;
    stage_add_unit(&stage, "stubborn@1", CELLS);
    stage_add_unit(&stage, "well", 1);
    stage_run(&stage);
    close(stage.request.signal_fd);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    stage_expect(&stage, 0, 0, STATE_MEASURED, NULL);
    stage_expect(&stage, 0, 1, STATE_CANCELLED, NULL);
    stage_expect(&stage, 0, 2, STATE_NOT_RUN, "stopped");
    stage_expect(&stage, 1, 0, STATE_NOT_RUN, "stopped");
    assert_int_equal(stage.evidence.end.interrupted, 1);
    stage_close(&stage);
}

static void test_stop(void **state)
{
    (void)state;
    play_stop(1);
}

static void test_stop_at_once(void **state)
{
    (void)state;
    play_stop(2);
}

/* ---- what a worker finds when it starts, and its log ---- */

static void test_surroundings(void **state)
{
    struct stage stage;
    const int open_fds[] = { dup(0), dup(1), dup(2) };
    sigset_t set;

    (void)state;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    play(&stage, "report");
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    for (size_t i = 0; i < 3; i++) {
        close(open_fds[i]);
    }
    expect_message(&stage, 0,
        "fds=0,1,2,3,4, mask=0 pipe=default group=own "
        "devices=GPU-well,GPU-sick parent=ok");
    arena_clear(&stage.arena);
}

/* C21: under a wrapper the worker keeps the terminal and is not told who its
 * parent should be. */
static void test_wrap(void **state)
{
    static const char *const wrap[] = { "env", "NVBW_WRAPPED=1", NULL };
    struct stage stage;

    (void)state;
    stage_open(&stage);
    stage.setup.wrap = wrap;
    stage_add_unit(&stage, "report", 2);
    stage_add_unit(&stage, "crash@0", 1);
    stage_run(&stage);
    stage_expect(&stage, 0, 1, STATE_MEASURED, NULL);
    expect_message(&stage, 0, "group=own");
    expect_message(&stage, 0, "parent=bad");
    stage_expect(&stage, 1, 0, STATE_CRASH, NULL);
    stage_close(&stage);
}

static void test_log_is_bounded(void **state)
{
    struct stage stage;
    char folder[64];
    char file[4200];
    struct stat info;

    (void)state;
    snprintf(folder, sizeof folder, "test_conduct_%d", (int)getpid());
    assert_int_equal(mkdir(folder, 0700), 0);
    stage_open(&stage);
    stage.setup.log_dir = folder;
    stage_add_unit(&stage, "flood@0", 1);
    stage_run(&stage);
    snprintf(file, sizeof file, "%s/run-%.0f.log", folder, pid_of(&stage, 0));
    assert_int_equal(stat(file, &info), 0);
    assert_in_range(info.st_size, 1 << 20, (1 << 20) + 200);
    unlink(file);
    rmdir(folder);
    stage_close(&stage);
}

static void test_log_frames_are_bounded(void **state)
{
    struct stage stage;
    size_t bytes = 0;

    (void)state;
    stage_open(&stage);
    stage_add_unit(&stage, "logs@0", 1);
    stage_run(&stage);
    stage_expect(&stage, 0, 0, STATE_MEASURED, NULL);
    for (uint32_t i = 0; i < stage.evidence.events_count; i++) {
        const struct event *const event = &stage.evidence.events[i];

        bytes += strcmp(event->what, "log") == 0 ? strlen(event->text) : 0;
    }
    assert_in_range(bytes, 1 << 19, 1 << 20);
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_well),
        cmocka_unit_test(test_misdeeds),
        cmocka_unit_test(test_twice),
        cmocka_unit_test(test_unwanted),
        cmocka_unit_test(test_hang),
        cmocka_unit_test(test_ignores_sigterm),
        cmocka_unit_test(test_end_of_file),
        cmocka_unit_test(test_three_barren_ends),
        cmocka_unit_test(test_dies_before_first_cell),
        cmocka_unit_test(test_wrong_build),
        cmocka_unit_test(test_no_worker),
        cmocka_unit_test(test_settled_go_along),
        cmocka_unit_test(test_isolate),
        cmocka_unit_test(test_leaves_between_units),
        cmocka_unit_test(test_confirm),
        cmocka_unit_test(test_confirm_goes_on),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_rerun_failed),
        cmocka_unit_test(test_known_state),
        cmocka_unit_test(test_text_axis),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_stop_at_once),
        cmocka_unit_test(test_surroundings),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_log_is_bounded),
        cmocka_unit_test(test_log_frames_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
