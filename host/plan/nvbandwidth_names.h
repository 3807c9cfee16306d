/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The single-node testcases of nvbandwidth by name and number, and which of our
 * plugins carries each. */
#ifndef NVBW_NVBANDWIDTH_NAMES_H
#define NVBW_NVBANDWIDTH_NAMES_H

#include <stdint.h>

enum {
    NVBANDWIDTH_NAMES = 44,
    NVBANDWIDTH_NAMES_0_8 = 35,
    NVBANDWIDTH_0_8 = 8,
    NVBANDWIDTH_0_10 = 10
};

struct nvbandwidth_name {
    const char *name, *plugin;
};

/* NVBANDWIDTH_0_8 or NVBANDWIDTH_0_10 for "0.8" or "0.10", the latter for
 * NULL; 0 for any other text. */
uint32_t nvbandwidth_version(const char *text);

/* How many testcases a version has. */
uint32_t nvbandwidth_count(uint32_t version);

/* The testcase that `-t INDEX` means, or NULL past the end. */
const struct nvbandwidth_name *nvbandwidth_at(uint32_t version, uint32_t index);

/* The testcase of that name in the newest list, or NULL. */
const struct nvbandwidth_name *nvbandwidth_find(const char *name);

/* 1 if nvbandwidth measures it over a buffer of its own size. */
int nvbandwidth_is_latency(const char *name);

#endif
