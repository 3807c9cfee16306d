/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Who else uses a GPU. */
#ifndef NVBW_NVML_PROCESSES_H
#define NVBW_NVML_PROCESSES_H

#include "arena.h"
#include "nvml_api.h"
#include "telemetry.h"

/* Adds those of NVML's list (its compute or its graphics processes) that are
 * none of ours to the reading; texts live in arena. */
void nvml_processes_add(nvml_processes_fn *list, struct nvmlDevice_st *device,
    struct gpu_reading *out, struct arena *arena);

/* The name of the process where it is none of ours: "pid name". Ours are
 * `family` and its descendants. NULL for these, and for one that this process
 * cannot see. root: of the file system, "" but in tests. */
const char *nvml_processes_stranger(
    struct arena *arena, const char *root, uint32_t pid, uint32_t family);

#endif
