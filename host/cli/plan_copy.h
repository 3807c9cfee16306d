/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Keeps the plan's files beside the run that they led to. */
#ifndef NVBW_PLAN_COPY_H
#define NVBW_PLAN_COPY_H

#include "run_dir.h"

/* Copies each file to RUN_DIR/plan/N-NAME, N in order of loading. The journal
 * holds the merged plan; these are for people. */
int32_t plan_copy(const struct run_dir *dir, const struct plan *plan,
    struct arena *arena, struct error *err);

#endif
