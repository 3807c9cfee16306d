/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The units in which sizes and durations are written and read: what the parts
 * of quantity share. */
#ifndef NVBW_MEASURE_H
#define NVBW_MEASURE_H

#include <stdint.h>

/* A unit of measure as people write it. */
struct measure {
    const char *word;
    uint64_t scale;
    uint32_t unit; /* NVBW_UNIT_*, for limits */
};

/* Both end with a NULL word. */
extern const struct measure size_measures[];
extern const struct measure duration_measures[];

#endif
