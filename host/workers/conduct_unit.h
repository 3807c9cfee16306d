/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* One unit from beginning to end: which cells it wants, its axes, its attempts
 * and their confirming. */
#ifndef NVBW_CONDUCT_UNIT_H
#define NVBW_CONDUCT_UNIT_H

#include "judge.h"
#include "unit_run.h"

/* unit: its number in the round at work. before: verdicts of an earlier part of
 * the run, for rerun_failed; else NULL. *out_worked: 1 if a worker ran for
 * it. */
int32_t conduct_unit(struct conductor *conductor, uint32_t unit,
    const struct verdicts *before, uint32_t *out_worked, struct error *err);

#endif
