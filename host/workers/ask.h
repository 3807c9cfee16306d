/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Questions: one task for one worker of its own, several workers at once. */
#ifndef NVBW_ASK_H
#define NVBW_ASK_H

#include "conduct.h"
#include "supervise.h"

struct question;

/* Takes one frame of the answer other than DONE; as worker_frame_fn. */
typedef int32_t question_frame_fn(struct question *question, uint32_t type,
    const void *object, struct error *err);

struct question {
    const struct task_frame *task;
    const char *role;          /* "describe", for ps and sentences */
    const struct facts *facts; /* sent before the task, or NULL */
    const char *devices;       /* CUDA_VISIBLE_DEVICES, or NULL */
    question_frame_fn *on_frame;
    void *user;
    /* The answer. */
    uint32_t done;      /* 1: DONE came; status and cause are its */
    int32_t status;     /* of DONE, else negative */
    struct cause cause; /* state NONE: all is well */
    uint32_t calls;     /* of DONE */
    char failed_call[32];
    struct worker worker;
};

/* What is common to all workers of a run; facts may be NULL. Lives in arena.
 * Only run workers are wrapped: several debuggers at once could not share the
 * terminal. */
int32_t ask_worker_start(const struct worker_setup *setup, const char *role,
    const char *devices, const struct facts *facts, struct arena *arena,
    struct worker_start *out, struct error *err);

/* Asks all questions, at most at_once of them at the same time, and waits for
 * the answers, each for as long as setup allows its role. A worker that fails
 * is no error: its question's cause says what happened. Ends early, killing
 * all, when a signal comes to the crew. */
int32_t ask_all(const struct worker_setup *setup, struct crew *crew,
    struct question *questions, uint32_t count, uint32_t at_once,
    struct error *err);

#endif
