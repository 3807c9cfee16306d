/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Readings to the telemetry of the cells in flight. Pure. */
#ifndef NVBW_MONITOR_CELLS_H
#define NVBW_MONITOR_CELLS_H

#include "monitor.h"

/* A measurement on this GPU begins: the next reading is its first. */
void monitor_cell_begin(struct monitored *gpu, uint32_t position);
void monitor_cell_add(struct monitored *gpu, const struct gpu_reading *reading);
/* Keeps the names of processes that make the GPU busy. */
void monitor_cell_others(const struct telemetry_rules *rules,
    struct monitored *gpu, const struct gpu_reading *reading);

/* Whether GPUs were throttled since the reading before, by more than is
 * tolerated: the sentence, or "". Begins the next such window. */
void monitor_cell_throttled(const struct telemetry_rules *rules,
    const struct facts *facts, struct monitored *gpus,
    const struct readings_frame *frame, char *out_text, size_t size);

/* What monitor_join does; the record's new lists live in arena. */
int32_t monitor_cell_join(const struct telemetry_rules *rules,
    struct monitored *gpus, uint32_t gpus_count, struct arena *arena,
    struct record *record, struct error *err);

#endif
