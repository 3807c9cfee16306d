/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Reads GPUs through NVML, for role watch. What a library or GPU does not tell
 * is absent from the readings; what it did not tell once is not asked for
 * again. Changes nothing on any GPU. */
#ifndef NVBW_NVML_WATCH_H
#define NVBW_NVML_WATCH_H

#include "facts.h"
#include "telemetry.h"

struct nvml_watch;

/* Opens NVML and finds the GPUs of facts in it by their PCI addresses. What is
 * opened lives in arena. Negative, with a sentence: there is no telemetry. */
int32_t nvml_watch_open(const struct facts *facts, const char *driver_file,
    struct arena *arena, struct nvml_watch **out, struct error *err);

/* Reads those of these GPUs (positions in facts->gpus) that NVML knows. First
 * what is quick, of all of them; then, unless kind is READ_LOAD, the rest. While
 * something is measured (all kinds but READ_POLL) what takes NVML long is not
 * asked for each time, and nothing once 12 ms are over, so a reading lasts that
 * and one step: a gauge then is that of the reading before, a counter absent.
 * Readings and their texts live in arena; NULL: no memory. */
struct gpu_reading *nvml_watch_read(struct nvml_watch *watch,
    const uint32_t *gpus, uint32_t count, uint32_t kind, struct arena *arena,
    uint32_t *out_count);

#endif
