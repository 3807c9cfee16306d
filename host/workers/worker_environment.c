/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "worker_environment.h"

#include <inttypes.h>
#include <string.h>

#include "facts.h"

/* Rules of the contract (C19): modules are loaded before the gate and not at
 * first use, and device numbers follow the bus. */
static const char *const fixed[] = {
    "CUDA_MODULE_LOADING=EAGER",
    "CUDA_DEVICE_ORDER=PCI_BUS_ID",
};
enum { FIXED_COUNT = sizeof fixed / sizeof fixed[0], OWN_COUNT = 4 };

static const char *const notable[] = {
    "CUDA_",
    "NVBW_",
    "NVIDIA_",
    "LD_PRELOAD=",
    "LD_LIBRARY_PATH=",
    "GLIBC_TUNABLES=",
    "MALLOC_",
};

int32_t worker_environment_build(const struct environment_request *request,
    struct arena *arena, const char *const **out_list, struct error *err)
{
    const char **const list =
        arena_alloc(arena, FIXED_COUNT + OWN_COUNT + 1, sizeof *list);
    size_t count = FIXED_COUNT;

    FAIL_IF(list == NULL, err, NVBW_E_SYSTEM,
        "no memory for a worker's environment");
    memcpy(list, fixed, sizeof fixed);
    /* Streams that must overlap do not share a channel (C19). */
    list[count++] = arena_format(arena, "CUDA_DEVICE_MAX_CONNECTIONS=%u",
        request->connections > 0 ? request->connections : CONNECTIONS_MOST);
    if (request->devices != NULL) {
        list[count++] =
            arena_format(arena, "CUDA_VISIBLE_DEVICES=%s", request->devices);
    }
    if (request->sim_profile != NULL) {
        list[count++] =
            arena_format(arena, "NVBW_SIM_PROFILE=%s", request->sim_profile);
    }
    list[count++] =
        request->parent_pid == 0
            ? "NVBW_PARENT"
            : arena_format(arena, "NVBW_PARENT=%" PRId64, request->parent_pid);
    for (size_t i = 0; i < count; i++) {
        FAIL_IF(list[i] == NULL, err, NVBW_E_SYSTEM,
            "no memory for a worker's environment");
    }
    *out_list = list;
    return NVBW_OK;
}

/* The length of NAME in "NAME=value" or "NAME". */
static size_t name_length(const char *entry)
{
    return strcspn(entry, "=");
}

static int is_changed(const char *entry, const char *const *changes)
{
    const size_t length = name_length(entry);

    for (; *changes != NULL; changes++) {
        if (name_length(*changes) == length &&
            memcmp(*changes, entry, length) == 0) {
            return 1;
        }
    }
    return 0;
}

static size_t list_count(const char *const *list)
{
    size_t count = 0;

    while (list[count] != NULL) {
        count++;
    }
    return count;
}

int32_t worker_environment_merge(const char *const *base,
    const char *const *changes, struct arena *arena, char ***out_list,
    struct error *err)
{
    const size_t most = list_count(base) + list_count(changes) + 1;
    const char **const list = arena_alloc(arena, most, sizeof *list);
    size_t count = 0;

    FAIL_IF(list == NULL, err, NVBW_E_SYSTEM,
        "no memory for an environment of %zu entries", most);
    for (; *base != NULL; base++) {
        if (!is_changed(*base, changes)) {
            list[count++] = *base;
        }
    }
    for (; *changes != NULL; changes++) {
        if (strchr(*changes, '=') != NULL) {
            list[count++] = *changes;
        }
    }
    *out_list = (char **)list;
    return NVBW_OK;
}

static int is_notable(const char *entry)
{
    for (size_t i = 0; i < sizeof notable / sizeof notable[0]; i++) {
        if (strncmp(entry, notable[i], strlen(notable[i])) == 0) {
            return 1;
        }
    }
    return 0;
}

int32_t worker_environment_notable(const char *const *environment,
    struct arena *arena, const char ***out_list, uint32_t *out_count,
    struct error *err)
{
    const char **list = NULL;
    uint32_t count = 0;

    for (; *environment != NULL; environment++) {
        /* A worker's parent is another number in each run and says nothing. */
        if (!is_notable(*environment) ||
            strncmp(*environment, "NVBW_PARENT=", 12) == 0) {
            continue;
        }
        list = arena_append(arena, list, &count, sizeof *list);
        FAIL_IF(list == NULL, err, NVBW_E_SYSTEM,
            "no memory for a worker's environment");
        list[count - 1] = arena_text(arena, *environment);
        FAIL_IF(list[count - 1] == NULL, err, NVBW_E_SYSTEM,
            "no memory for a worker's environment");
    }
    *out_list = list;
    *out_count = count;
    return NVBW_OK;
}
