/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "nvbandwidth_names.h"

#include <stddef.h>
#include <string.h>

/* The sixteen that exist by copy engine and by kernel, in one order. */
#define BOTH(way)                                                              \
    { "host_to_device_memcpy_" #way, #way "_h2d" },                            \
        { "device_to_host_memcpy_" #way, #way "_h2d" },                        \
        { "host_to_device_bidirectional_memcpy_" #way, #way "_h2d" },          \
        { "device_to_host_bidirectional_memcpy_" #way, #way "_h2d" },          \
        { "device_to_device_memcpy_read_" #way, #way "_d2d" },                 \
        { "device_to_device_memcpy_write_" #way, #way "_d2d" },                \
        { "device_to_device_bidirectional_memcpy_read_" #way, #way "_d2d" },   \
        { "device_to_device_bidirectional_memcpy_write_" #way, #way "_d2d" },  \
        { "all_to_host_memcpy_" #way, #way "_h2d" },                           \
        { "all_to_host_bidirectional_memcpy_" #way, #way "_h2d" },             \
        { "host_to_all_memcpy_" #way, #way "_h2d" },                           \
        { "host_to_all_bidirectional_memcpy_" #way, #way "_h2d" },             \
        { "all_to_one_write_" #way, #way "_d2d" },                             \
        { "all_to_one_read_" #way, #way "_d2d" },                              \
        { "one_to_all_write_" #way, #way "_d2d" },                             \
    {                                                                          \
        "one_to_all_read_" #way, #way "_d2d"                                   \
    }

static const struct nvbandwidth_name names[] = {
    BOTH(ce),
    BOTH(sm),
    { "host_device_latency_sm", "latency" },
    { "device_to_device_latency_sm", "latency" },
    { "device_to_device_memcpy_read_tma", "tma" },
    { "device_to_device_memcpy_write_tma", "tma" },
    { "device_to_device_bidirectional_memcpy_read_tma", "tma" },
    { "device_to_device_bidirectional_memcpy_write_tma", "tma" },
    { "device_local_copy", "local" },
    { "device_local_copy_sm", "local" },
    { "device_local_read_sm", "local" },
    { "device_local_write_sm", "local" },
    { "device_to_device_latency_tma", "latency" },
    { "device_local_copy_tma", "tma" },
};
_Static_assert(sizeof names / sizeof names[0] == NVBANDWIDTH_NAMES,
    "nvbandwidth 0.10 has 44 testcases");

/* 0.8 ends with device_local_copy, which 0.10 moved behind its new ones. */
enum { SAME_IN_BOTH = 34, LOCAL_COPY = 38 };

uint32_t nvbandwidth_version(const char *text)
{
    if (text == NULL || strcmp(text, "0.10") == 0) {
        return NVBANDWIDTH_0_10;
    }
    return strcmp(text, "0.8") == 0 ? NVBANDWIDTH_0_8 : 0;
}

uint32_t nvbandwidth_count(uint32_t version)
{
    return version == NVBANDWIDTH_0_8 ? NVBANDWIDTH_NAMES_0_8
                                      : NVBANDWIDTH_NAMES;
}

const struct nvbandwidth_name *nvbandwidth_at(uint32_t version, uint32_t index)
{
    if (index >= nvbandwidth_count(version)) {
        return NULL;
    }
    return version == NVBANDWIDTH_0_8 && index == SAME_IN_BOTH
               ? &names[LOCAL_COPY]
               : &names[index];
}

const struct nvbandwidth_name *nvbandwidth_find(const char *name)
{
    for (uint32_t i = 0; i < NVBANDWIDTH_NAMES; i++) {
        if (strcmp(names[i].name, name) == 0) {
            return &names[i];
        }
    }
    return NULL;
}

int nvbandwidth_is_latency(const char *name)
{
    return strstr(name, "_latency_") != NULL;
}
