/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What a run worker says during a task, checked and taken over. */
#ifndef NVBW_UNIT_FRAMES_H
#define NVBW_UNIT_FRAMES_H

#include "unit_run.h"

/* A worker_frame_fn whose worker->user is the runner, and whose runner->task
 * is the unit_run. */
int32_t unit_frames_take(struct worker *worker, uint32_t type,
    const void *object, size_t payload_bytes, struct error *err);

/* Restarts the clock of the cell in flight. */
void unit_frames_allow(struct unit_run *run);

#endif
