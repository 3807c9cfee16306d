/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Expect: whether the machine is the one that the plan was written for. Pure:
 * plan and facts in, sentences out. Asked before anything is measured, and
 * again by the judge so that every report says it. */
#ifndef NVBW_EXPECT_H
#define NVBW_EXPECT_H

#include "facts.h"
#include "plan.h"

struct expect_fault {
    const char *key;  /* "gpus" */
    int32_t gpu;      /* position in facts->gpus, or -1 */
    const char *what; /* "expected 8 GPUs, found 7" */
    struct origin origin;
};

/* One fault per mistake; texts live in arena. */
int32_t expect_check(const struct plan *plan, const struct facts *facts,
    struct arena *arena, struct expect_fault **out_faults, uint32_t *out_count,
    struct error *err);

#endif
