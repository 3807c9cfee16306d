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
 * what is quick, of all of them; then, if `whole`, the rest, until it has
 * taken 12 ms. Readings and their texts live in arena; NULL: no memory. */
struct gpu_reading *nvml_watch_read(struct nvml_watch *watch,
    const uint32_t *gpus, uint32_t count, int whole, struct arena *arena,
    uint32_t *out_count);

/* The name of the process where it is none of ours: "pid name". Ours are
 * `family` and its descendants. NULL for these, and for one that this process
 * cannot see. root: of the file system, "" but in tests. */
const char *nvml_watch_stranger(
    struct arena *arena, const char *root, uint32_t pid, uint32_t family);

#endif
