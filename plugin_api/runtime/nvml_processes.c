/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "nvml_processes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sysfs.h"

enum { PROCESS_LIMIT = 64 };

/* The parent's pid, 0 where it is not known. */
static uint32_t parent_of(const char *root, uint32_t pid)
{
    char text[512] = "";

    if (!sysfs_read(text, sizeof text, "%s/proc/%u/stat", root, pid)) {
        return 0;
    }

    /* The name in parentheses may hold anything; the last one ends it. */
    const char *const end = strrchr(text, ')');

    return end == NULL || strlen(end) < 4
               ? 0
               : (uint32_t)strtoul(end + 4, NULL, 10);
}

const char *nvml_processes_stranger(
    struct arena *arena, const char *root, uint32_t pid, uint32_t family)
{
    char name[64] = "";

    for (uint32_t at = pid; at > 1; at = parent_of(root, at)) {
        if (at == family) {
            return NULL;
        }
    }
    return sysfs_read(name, sizeof name, "%s/proc/%u/comm", root, pid)
               ? arena_format(arena, "%u %s", pid, name)
               : NULL;
}

static int is_listed(const struct gpu_reading *reading, const char *text)
{
    for (uint32_t i = 0; i < reading->processes_count; i++) {
        if (strcmp(reading->processes[i], text) == 0) {
            return 1;
        }
    }
    return 0;
}

void nvml_processes_add(nvml_processes_fn *list, struct nvmlDevice_st *device,
    struct gpu_reading *out, struct arena *arena)
{
    struct nvml_process found[PROCESS_LIMIT];
    unsigned int count = PROCESS_LIMIT;

    if (list(device, &count, found) != NVML_DONE || count > PROCESS_LIMIT) {
        return;
    }
    for (unsigned int i = 0; i < count; i++) {
        const char *const text = nvml_processes_stranger(
            arena, "", found[i].pid, (uint32_t)getppid());

        if (text == NULL || is_listed(out, text)) {
            continue;
        }

        const char **const grown = arena_append(arena, out->processes,
            &out->processes_count, sizeof *out->processes);

        if (grown == NULL) {
            out->processes_count = 0;
            return;
        }
        out->processes = grown;
        grown[out->processes_count - 1] = text;
    }
}
