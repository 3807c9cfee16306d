/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Rounds, planned ones and those that a duration adds: one at a time is in
 * memory, and when the run is over all of them are there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "host_clock.h"
#include "stage.h"
#include "state.h"

enum { CELLS = 4, ROUNDS = 3 };

static void add_duration(struct stage *stage, const char *text)
{
    static const char *texts[1];
    static struct plan_value duration = {
        .name = "duration", .texts = texts, .texts_count = 1
    };

    texts[0] = text;
    stage->evidence.plan.options = &duration;
    stage->evidence.plan.options_count = 1;
    stage->evidence.header.started_ns = host_clock_ns();
}

static void run_for(struct stage *stage, const char *duration)
{
    stage_open(stage);
    stage_add_unit(stage, "well", 2);
    stage_add_unit(stage, "well", 1);
    add_duration(stage, duration);
    stage_run(stage);
}

/* On a busy machine the first round alone may take longer than a short
 * duration, and a long one may be more rounds than a stage has room for. */
static void run_until(struct stage *stage, uint32_t units,
    void (*run)(struct stage *stage, const char *duration))
{
    static char duration[16];
    unsigned ms = 100;

    do {
        if (ms > 100) {
            stage_close(stage);
        }
        ms *= 2;
        snprintf(duration, sizeof duration, "%u ms", ms);
        run(stage, duration);
    } while (stage->evidence.units_count < units && ms < 100000);
    assert_true(stage->evidence.units_count >= units);
}

/* The first round comes again, units of its own; what was begun is ended. */
static void test_duration(void **state)
{
    struct stage stage;

    (void)state;
    run_until(&stage, 4, run_for);
    assert_int_equal(stage.evidence.units_count % 2, 0);
    for (uint32_t i = 0; i < stage.evidence.units_count; i++) {
        assert_int_equal(stage.evidence.units[i].round, i / 2);
        stage_expect(&stage, i, 0, STATE_MEASURED, NULL);
    }
    stage_close(&stage);
}

/* Rounds that measure nothing would only fill the journal. */
static void test_duration_without_work(void **state)
{
    struct stage stage;
    struct unit *unit = NULL;

    (void)state;
    stage_open(&stage);
    unit = stage_add_unit(&stage, "well", 2);
    unit->state = STATE_SKIP;
    unit->reason = "no_device";
    add_duration(&stage, "1 h");
    stage_run(&stage);
    assert_int_equal(stage.evidence.units_count, 1);
    stage_close(&stage);
}

/* Nor are rounds in which every worker ends at once. */
static void test_duration_of_failures(void **state)
{
    struct stage stage;

    (void)state;
    stage_open(&stage);
    stage_add_unit(&stage, "crash@0", 1);
    add_duration(&stage, "1 h");
    stage_run(&stage);
    assert_int_equal(stage.evidence.units_count, 1);
    stage_close(&stage);
}

static void run_leaving_one_out(struct stage *stage, const char *duration)
{
    struct record record;

    stage_open(stage);
    stage_add_unit(stage, "well", 3);
    record_init(&record);
    record.metric = "rate";
    record.row = 1;
    record.state = STATE_SKIP;
    record.reason = "excluded";
    assert_int_equal(
        evidence_add(&stage->evidence, &stage->arena, LINE_CELL, &record, NULL),
        NVBW_OK);
    add_duration(stage, duration);
    stage_run(stage);
}

/* Cells that are left out before the run are left out of every round, also
 * where a run was cut off before it could say so. */
static void test_duration_leaves_out(void **state)
{
    struct stage stage;

    (void)state;
    run_until(&stage, 2, run_leaving_one_out);
    for (uint32_t i = 0; i < stage.evidence.units_count; i++) {
        stage_expect(&stage, i, 0, STATE_MEASURED, NULL);
        stage_expect(&stage, i, 1, STATE_SKIP, "excluded");
        stage_expect(&stage, i, 2, STATE_MEASURED, NULL);
        assert_int_equal(stage_count(&stage, i, 1, 0), 1);
    }
    stage_close(&stage);
}

struct journal_scene {
    char folder[32];
    struct journal *journal;
    struct stage stage;
    uint32_t warnings;
};

static void count_warning(void *user, const struct event *event)
{
    struct journal_scene *const scene = user;

    if (strcmp(event->what, "warning") == 0) {
        assert_non_null(strstr(event->text, "before its duration"));
        scene->warnings++;
    }
}

/* Before a run begins its journal has all that evidence has. */
static void write_evidence(
    struct journal *journal, const struct evidence *evidence)
{
    assert_int_equal(
        journal_add(journal, LINE_RUN, &evidence->header, NULL), NVBW_OK);
    assert_int_equal(
        journal_add(journal, LINE_PLAN, &evidence->plan, NULL), NVBW_OK);
    assert_int_equal(
        journal_add(journal, LINE_FACTS, &evidence->facts, NULL), NVBW_OK);
    for (uint32_t i = 0; i < evidence->units_count; i++) {
        assert_int_equal(
            journal_add(journal, LINE_UNIT, &evidence->units[i], NULL),
            NVBW_OK);
    }
}

static void write_records(
    struct journal *journal, const struct evidence *evidence)
{
    for (uint32_t i = 0; i < evidence->records_count; i++) {
        assert_int_equal(
            journal_add(journal, LINE_CELL, &evidence->records[i], NULL),
            NVBW_OK);
    }
}

static void play_journal(
    struct journal_scene *scene, uint32_t cells, uint64_t most)
{
    const struct conduct_watch watch = { .user = scene,
        .event = count_warning };

    *scene = (struct journal_scene){ .folder = "/tmp/nvbw-rounds-XXXXXX" };
    assert_non_null(mkdtemp(scene->folder));
    stage_open(&scene->stage);
    assert_int_equal(
        journal_open(scene->folder, &scene->journal, NULL), NVBW_OK);
    stage_add_unit(&scene->stage, "well", cells);
    stage_add_unit(&scene->stage, "well", 1);
    add_duration(&scene->stage, "1 h");
    scene->stage.evidence.header.version = EVIDENCE_VERSION;
    write_evidence(scene->journal, &scene->stage.evidence);
    scene->stage.request.journal = scene->journal;
    scene->stage.request.journal_most_bytes =
        journal_size(scene->journal) + most;
    scene->stage.request.watch = &watch;
    stage_run(&scene->stage);
}

static void end_journal(struct journal_scene *scene)
{
    char file[64];

    journal_close(scene->journal);
    snprintf(file, sizeof file, "%s/journal.ndjson", scene->folder);
    unlink(file);
    rmdir(scene->folder);
    stage_close(&scene->stage);
}

/* A journal that could not be read again is not begun to be filled with
 * another round. */
static void test_duration_of_a_journal(void **state)
{
    struct journal_scene scene;

    (void)state;
    play_journal(&scene, 1, 40 << 10);
    assert_int_equal(scene.warnings, 1);
    assert_true(
        journal_size(scene.journal) <= scene.stage.request.journal_most_bytes);
    assert_true(scene.stage.evidence.units_count > 2);
    assert_int_equal(scene.stage.evidence.units_count % 2, 0);
    for (uint32_t i = 0; i < scene.stage.evidence.units_count; i++) {
        stage_expect(&scene.stage, i, 0, STATE_MEASURED, NULL);
    }
    end_journal(&scene);
}

/* And where one round is too much what is left of it is not run. */
static void test_full_journal(void **state)
{
    struct journal_scene scene;

    (void)state;
    play_journal(&scene, CELLS, 600);
    stage_expect(&scene.stage, 0, 0, STATE_MEASURED, NULL);
    stage_expect(&scene.stage, 1, 0, STATE_NOT_RUN, "journal_full");
    end_journal(&scene);
}

/* ---- rounds in the journal ---- */

/* A scene with a journal, or without, in whose rounds the first unit logs and
 * the second cell of the second one crashes its worker. */
static void set_rounds(struct journal_scene *scene, int has_journal)
{
    *scene = (struct journal_scene){ .folder = "/tmp/nvbw-rounds-XXXXXX" };
    assert_non_null(mkdtemp(scene->folder));
    stage_open(&scene->stage);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        stage_add_unit(&scene->stage, "logs@1", 2)->round = round;
        stage_add_unit(&scene->stage, "crash@1", 2)->round = round;
    }
    scene->stage.evidence.header.version = EVIDENCE_VERSION;
    assert_int_equal(
        journal_open(scene->folder, &scene->journal, NULL), NVBW_OK);
    if (has_journal) {
        write_evidence(scene->journal, &scene->stage.evidence);
        scene->stage.request.journal = scene->journal;
        scene->stage.request.journal_most_bytes = JOURNAL_LIMIT_BYTES;
    }
}

static uint32_t count_events(
    const struct evidence *evidence, const char *what, int32_t unit)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < evidence->events_count; i++) {
        count += evidence->events[i].unit == unit &&
                 strcmp(evidence->events[i].what, what) == 0;
    }
    return count;
}

static void expect_rounds(const struct stage *stage)
{
    const struct evidence *const evidence = &stage->evidence;

    assert_int_equal(evidence->units_count, 2 * ROUNDS);
    assert_int_equal(evidence->records_count, 4 * ROUNDS);
    assert_true(evidence->ended);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint32_t unit = 2 * round;

        assert_int_equal(evidence->units[unit].id, unit);
        assert_int_equal(evidence->units[unit].round, round);
        stage_expect(stage, unit, 0, STATE_MEASURED, NULL);
        stage_expect(stage, unit, 1, STATE_MEASURED, NULL);
        stage_expect(stage, unit + 1, 0, STATE_MEASURED, NULL);
        stage_expect(stage, unit + 1, 1, STATE_CRASH, NULL);
        assert_true(count_events(evidence, "log", (int32_t)unit) > 0);
    }
}

static void test_rounds_of_a_journal(void **state)
{
    struct journal_scene scene;

    (void)state;
    for (int has_journal = 0; has_journal <= 1; has_journal++) {
        set_rounds(&scene, has_journal);
        stage_run(&scene.stage);
        expect_rounds(&scene.stage);
        end_journal(&scene);
    }
}

/* A run that was broken off in its second round goes on from what its journal
 * has. */
static void test_rounds_resumed(void **state)
{
    struct journal_scene scene;
    struct evidence *const evidence = &scene.stage.evidence;

    (void)state;
    for (int has_journal = 0; has_journal <= 1; has_journal++) {
        set_rounds(&scene, has_journal);
        stage_run(&scene.stage);
        /* The first round, and a half. */
        assert_true(evidence->records_count > 6);
        evidence->records_count = 6;
        evidence->index = NULL;
        evidence->events_count = 0;
        evidence->ended = 0;
        if (has_journal) {
            assert_int_equal(journal_flush(scene.journal, NULL), NVBW_OK);
            assert_int_equal(truncate(journal_file(scene.journal), 0), 0);
            journal_close(scene.journal);
            assert_int_equal(
                journal_open(scene.folder, &scene.journal, NULL), NVBW_OK);
            scene.stage.request.journal = scene.journal;
            write_evidence(scene.journal, evidence);
            write_records(scene.journal, evidence);
        }
        stage_run(&scene.stage);
        assert_int_equal(evidence->records_count, 4 * ROUNDS);
        for (uint32_t unit = 0; unit < 2 * ROUNDS; unit++) {
            assert_int_equal(stage_count(&scene.stage, unit, 0, 0), 1);
            assert_int_equal(stage_count(&scene.stage, unit, 1, 0), 1);
        }
        end_journal(&scene);
    }
}

/* A journal is read by what is open, not by its name. */
static void lose_journal(
    void *user, const struct unit *unit, const struct record *record)
{
    struct journal_scene *const scene = user;

    (void)record;
    if (unit->round == ROUNDS - 1) {
        unlink(journal_file(scene->journal));
    }
}

static void test_journal_without_a_name(void **state)
{
    struct journal_scene scene;
    const struct conduct_watch watch = { .user = &scene,
        .cell_settled = lose_journal };

    (void)state;
    set_rounds(&scene, 1);
    scene.stage.request.watch = &watch;
    stage_run(&scene.stage);
    expect_rounds(&scene.stage);
    end_journal(&scene);
}

/* Where somebody else wrote into it that is told, and what is still in memory
 * is not lost. */
static void spoil_journal(
    void *user, const struct unit *unit, const struct record *record)
{
    struct journal_scene *const scene = user;

    if (unit->round == ROUNDS - 1 && unit->id == 1 && record->row == 1) {
        FILE *const file = fopen(journal_file(scene->journal), "a");

        assert_non_null(file);
        fputs("{\"type\":\"strange\",\"data\":{}}\n", file);
        fclose(file);
    }
}

static void test_journal_that_was_changed(void **state)
{
    struct journal_scene scene;
    struct error err = { 0 };
    const struct conduct_watch watch = { .user = &scene,
        .cell_settled = spoil_journal };

    (void)state;
    set_rounds(&scene, 1);
    scene.stage.request.watch = &watch;
    assert_true(conduct_run(&scene.stage.request, &err) < 0);
    assert_non_null(strstr(err.text, scene.folder));
    assert_non_null(strstr(err.text, "changed the journal"));
    stage_expect(&scene.stage, 4, 0, STATE_MEASURED, NULL);
    stage_expect(&scene.stage, 5, 1, STATE_CRASH, NULL);
    end_journal(&scene);
}

/* What a round closes is that round's: units that are planned stay as they are
 * when its memory is given back. */
static void test_axes_of_a_round(void **state)
{
    struct journal_scene scene;
    struct error err = { 0 };
    const struct conduct_watch watch = { .user = &scene,
        .cell_settled = spoil_journal };

    (void)state;
    set_rounds(&scene, 1);
    for (uint32_t i = 0; i < 2 * ROUNDS; i += 2) {
        scene.stage.evidence.units[i].open_axes = 1;
    }
    scene.stage.request.watch = &watch;
    assert_true(conduct_run(&scene.stage.request, &err) < 0);
    assert_int_equal(scene.stage.evidence.units[0].open_axes, 0);
    assert_int_equal(scene.stage.evidence.units[2].open_axes, 1);
    assert_int_equal(scene.stage.evidence.units[2].shapes[0].rows, 2);
    assert_int_equal(scene.stage.evidence.units[4].open_axes, 0);
    end_journal(&scene);
}

/* A run that was broken off while it added a round's units goes on with all of
 * them. */
static void test_round_that_was_begun(void **state)
{
    struct stage stage;

    (void)state;
    stage_open(&stage);
    for (uint32_t i = 0; i < 3; i++) {
        stage_add_unit(&stage, "well", 1);
    }
    stage_add_unit(&stage, "well", 1)->round = 1;
    stage_run(&stage);
    assert_int_equal(stage.evidence.units_count, 6);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(stage.evidence.units[i].round, i / 3);
        stage_expect(&stage, i, 0, STATE_MEASURED, NULL);
    }
    stage_close(&stage);
}

/* An axis that was closed in the first round is closed in those that are added
 * to it. */
static void run_open_for(struct stage *stage, const char *duration)
{
    stage_open(stage);
    stage_add_unit(stage, "well", 1)->open_axes = 1;
    add_duration(stage, duration);
    stage_run(stage);
}

static void test_duration_of_an_axis(void **state)
{
    struct stage stage;

    (void)state;
    run_until(&stage, 3, run_open_for);
    for (uint32_t unit = 0; unit < stage.evidence.units_count; unit++) {
        assert_int_equal(stage.evidence.units[unit].open_axes, 0);
        stage_expect(&stage, unit, 1, STATE_MEASURED, NULL);
    }
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_duration),
        cmocka_unit_test(test_duration_without_work),
        cmocka_unit_test(test_duration_of_failures),
        cmocka_unit_test(test_duration_leaves_out),
        cmocka_unit_test(test_duration_of_a_journal),
        cmocka_unit_test(test_duration_of_an_axis),
        cmocka_unit_test(test_full_journal),
        cmocka_unit_test(test_rounds_of_a_journal),
        cmocka_unit_test(test_rounds_resumed),
        cmocka_unit_test(test_journal_without_a_name),
        cmocka_unit_test(test_journal_that_was_changed),
        cmocka_unit_test(test_axes_of_a_round),
        cmocka_unit_test(test_round_that_was_begun),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
