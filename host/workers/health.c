/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "health.h"

#include "ask.h"
#include "state.h"

enum { HEALTH_AT_ONCE = 16, HEALTH_ARENA_BYTES = 64 << 20 };

static int32_t refuse_frame(struct question *question, uint32_t type,
    const void *object, struct error *err)
{
    (void)question;
    (void)object;
    return error_set(err, NVBW_E_INVALID,
        "a frame of type %u came from a health worker", type);
}

/* It alone is visible to its worker: others may be sick too. */
static void prepare(const struct worker_setup *setup, const struct facts *facts,
    uint32_t *gpu, struct task_frame *task, struct question *question)
{
    *task = (struct task_frame){ .role = TASK_HEALTH,
        .driver_file = setup->driver_file,
        .budget_ns = UINT64_MAX,
        .gpus = gpu,
        .gpus_count = 1 };
    *question = (struct question){ .task = task,
        .role = "health",
        .facts = facts,
        .devices = facts->gpus[*gpu].uuid,
        .on_frame = refuse_frame };
}

static int32_t conclude(struct ledger *ledger, struct taint *taint,
    uint32_t gpu, const struct question *question, struct error *err)
{
    const int is_sick = question->cause.state != STATE_NONE;
    const struct event event = { .what = is_sick ? "tainted" : "untainted",
        .unit = -1,
        .gpu = (int32_t)gpu,
        .text = is_sick ? question->cause.text
                        : "the GPU answers after its worker gave up on it" };

    if (question->cause.state == STATE_CANCELLED) {
        return NVBW_OK; /* the run was stopped before there was an answer */
    }
    if (is_sick) {
        taint_add(taint, gpu);
    }
    return ledger_event(ledger, &event, err);
}

static int32_t check_all(const struct worker_setup *setup, struct crew *crew,
    struct ledger *ledger, const uint32_t *gpus, uint32_t count,
    struct taint *taint, struct arena *arena, struct error *err)
{
    struct question *const questions =
        arena_alloc(arena, count, sizeof *questions);
    struct task_frame *const tasks = arena_alloc(arena, count, sizeof *tasks);
    uint32_t *const own = arena_alloc(arena, count, sizeof *own);
    uint32_t asked = 0;

    FAIL_IF(questions == NULL || tasks == NULL || own == NULL, err,
        NVBW_E_SYSTEM, "no memory to check %u GPUs", count);
    for (uint32_t i = 0; i < count; i++) {
        if (gpus[i] < ledger->evidence->facts.gpus_count &&
            !taint_has(taint, gpus[i])) {
            own[asked] = gpus[i];
            prepare(setup, &ledger->evidence->facts, &own[asked], &tasks[asked],
                &questions[asked]);
            asked++;
        }
    }
    TRY(ask_all(setup, crew, questions, asked, HEALTH_AT_ONCE, err));
    for (uint32_t i = 0; i < asked; i++) {
        TRY(conclude(ledger, taint, own[i], &questions[i], err));
    }
    return NVBW_OK;
}

int32_t health_check(const struct worker_setup *setup, struct crew *crew,
    struct ledger *ledger, const uint32_t *gpus, uint32_t count,
    struct taint *taint, struct error *err)
{
    struct arena arena;

    arena_init(&arena, HEALTH_ARENA_BYTES);

    const int32_t status =
        check_all(setup, crew, ledger, gpus, count, taint, &arena, err);

    arena_clear(&arena);
    return status;
}
