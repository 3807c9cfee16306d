/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Recorded runs in which one call of the host fails (rule C27). What the
 * plugin records then is of no interest, only how it ends. */
#include <stdio.h>
#include <string.h>

#include "ask.h"
#include "conduct.h"
#include "state.h"

enum { TORTURES_AT_ONCE = 4, TORTURE_ARENA_BYTES = 64 << 20 };

static int32_t drop_frame(struct question *question, uint32_t type,
    const void *object, struct error *err)
{
    (void)question;
    (void)object;
    FAIL_IF(type != FRAME_LABELS && type != FRAME_CELL && type != FRAME_BEGIN,
        err, NVBW_E_INVALID, "a frame of type %u came from a record worker",
        type);
    return NVBW_OK;
}

/* An error that the plugin reported is a clean end, a breach of the contract
 * is not. */
static int is_clean(const struct question *question)
{
    const struct cause *const cause = &question->cause;

    if (!question->done || cause->state == STATE_CRASH ||
        cause->state == STATE_TIMEOUT) {
        return 0;
    }
    return cause->state != STATE_ERROR || cause->reason == NULL ||
           (strcmp(cause->reason, "contract") != 0 &&
               strcmp(cause->reason, "protocol") != 0);
}

static void judge(const struct question *question, struct torture *out)
{
    memcpy(out->name, question->failed_call, sizeof out->name);
    if (!is_clean(question)) {
        snprintf(out->fault, sizeof out->fault, "%.*s",
            (int)sizeof out->fault - 1, question->cause.text);
    } else if (strcmp(out->name, "measure") == 0 &&
               question->status == NVBW_OK) {
        snprintf(out->fault, sizeof out->fault,
            "run returned NVBW_OK although measure() could not go on");
    }
}

static struct question record_with(
    const struct task_frame *task, const struct facts *facts)
{
    return (struct question){
        .task = task, .role = "record", .facts = facts, .on_frame = drop_frame
    };
}

/* A worker that crashes has not said which function it was: a run in which
 * nothing fails tells. */
static int32_t name_call(const struct worker_setup *setup, struct crew *crew,
    const struct facts *facts, const struct task_frame *failed,
    struct torture *out, struct error *err)
{
    struct task_frame task = *failed;
    struct question question = record_with(&task, facts);

    task.fail_call = 0;
    task.name_call = failed->fail_call;
    TRY(ask_all(setup, crew, &question, 1, 1, err));
    memcpy(out->name, question.failed_call, sizeof out->name);
    return NVBW_OK;
}

static int32_t judge_all(const struct worker_setup *setup, struct crew *crew,
    const struct facts *facts, const struct question *questions,
    struct torture *tortures, uint32_t count, struct error *err)
{
    for (uint32_t i = 0; i < count; i++) {
        judge(&questions[i], &tortures[i]);
        if (tortures[i].fault[0] != '\0' && tortures[i].name[0] == '\0') {
            TRY(name_call(
                setup, crew, facts, questions[i].task, &tortures[i], err));
        }
    }
    return NVBW_OK;
}

static int32_t ask_each(const struct worker_setup *setup,
    const struct facts *facts, const struct unit *unit,
    struct torture *tortures, uint32_t count, struct arena *arena,
    struct error *err)
{
    struct task_frame *const tasks = arena_alloc(arena, count, sizeof *tasks);
    struct question *const questions =
        arena_alloc(arena, count, sizeof *questions);
    struct crew crew;

    FAIL_IF(tasks == NULL || questions == NULL, err, NVBW_E_SYSTEM,
        "no memory to record %u runs", count);
    for (uint32_t i = 0; i < count; i++) {
        tasks[i] = (struct task_frame){ .role = TASK_RECORD,
            .plugin_file = unit->plugin_file,
            .driver_file = setup->driver_file,
            .unit = *unit,
            .budget_ns = UINT64_MAX,
            .fail_call = tortures[i].call };
        questions[i] = record_with(&tasks[i], facts);
    }
    crew_open(&crew, -1);

    int32_t status =
        ask_all(setup, &crew, questions, count, TORTURES_AT_ONCE, err);

    if (status == NVBW_OK) {
        status =
            judge_all(setup, &crew, facts, questions, tortures, count, err);
    }
    crew_close(&crew);
    return status;
}

int32_t workers_torture(const struct worker_setup *setup,
    const struct facts *facts, const struct unit *unit,
    struct torture *tortures, uint32_t count, struct error *err)
{
    struct arena arena;

    arena_init(&arena, TORTURE_ARENA_BYTES);

    const int32_t status =
        ask_each(setup, facts, unit, tortures, count, &arena, err);

    arena_clear(&arena);
    return status;
}
