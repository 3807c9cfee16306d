/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "ask.h"
#include "state.h"

enum {
    CHECK_AT_ONCE = 4,
    REFUSALS_LIMIT = 1024, /* of one unit */
    CHECK_ARENA_BYTES = 64 << 20
};

struct checking {
    struct check_answer *answer;
    struct arena *arena;
    struct task_frame task;
};

static int32_t take_refused(struct question *question, uint32_t type,
    const void *object, struct error *err)
{
    struct checking *const about = question->user;
    struct check_answer *const answer = about->answer;

    FAIL_IF(type != FRAME_REFUSED, err, NVBW_E_INVALID,
        "a frame of type %u came from a check worker", type);
    if (answer->refused_count == REFUSALS_LIMIT) {
        return NVBW_OK;
    }

    struct refused_frame *const grown = arena_append(
        about->arena, answer->refused, &answer->refused_count, sizeof *grown);

    FAIL_IF(grown == NULL, err, NVBW_E_SYSTEM, "no memory for a refusal");
    answer->refused = grown;
    return fields_copy(&refused_fields, object, about->arena,
        &grown[answer->refused_count - 1], err);
}

/* What a worker said or did instead of an answer. */
static int32_t conclude(
    const struct question *question, struct arena *arena, struct error *err)
{
    const struct checking *const about = question->user;

    if (question->cause.state == STATE_NONE) {
        return NVBW_OK;
    }
    about->answer->trouble = arena_text(arena, question->cause.text);
    FAIL_IF(about->answer->trouble == NULL, err, NVBW_E_SYSTEM,
        "no memory for a testcase's check");
    return NVBW_OK;
}

static int32_t ask_units(const struct worker_setup *setup,
    const struct unit *units, uint32_t count, struct arena *arena,
    struct arena *work, struct check_answer *answers, struct error *err)
{
    struct checking *const about = arena_alloc(work, count, sizeof *about);
    struct question *const questions =
        arena_alloc(work, count, sizeof *questions);
    struct crew crew;

    FAIL_IF(about == NULL || questions == NULL, err, NVBW_E_SYSTEM,
        "no memory to check the parameters of %u units", count);
    for (uint32_t i = 0; i < count; i++) {
        about[i] = (struct checking){ &answers[i], arena,
            { .role = TASK_CHECK,
                .plugin_file = units[i].plugin_file,
                .unit = units[i],
                .budget_ns = UINT64_MAX } };
        questions[i] = (struct question){ .task = &about[i].task,
            .role = "check",
            .on_frame = take_refused,
            .user = &about[i] };
    }
    crew_open(&crew, -1);

    int32_t status =
        ask_all(setup, &crew, questions, count, CHECK_AT_ONCE, err);

    crew_close(&crew);
    for (uint32_t i = 0; i < count && status == NVBW_OK; i++) {
        status = conclude(&questions[i], arena, err);
    }
    return status;
}

int32_t workers_check(const struct worker_setup *setup,
    const struct unit *units, uint32_t count, struct arena *arena,
    struct check_answer *answers, struct error *err)
{
    struct arena work;

    if (count == 0) {
        return NVBW_OK;
    }
    arena_init(&work, CHECK_ARENA_BYTES);

    const int32_t status =
        ask_units(setup, units, count, arena, &work, answers, err);

    arena_clear(&work);
    return status;
}
