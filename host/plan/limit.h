/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Which limit holds for a cell. Pure: evidence and bases are the judge's. */
#ifndef NVBW_LIMIT_H
#define NVBW_LIMIT_H

#include "plan.h"

/* What a limit can ask about a cell. */
struct limit_cell {
    const char *testcase, *metric;
    uint32_t unit, better;  /* of the metric: NVBW_UNIT_*, NVBW_HIGHER */
    const int32_t *devices; /* machine numbers (gpu_facts.index) of the GPUs
                                 that the cell is about: those of its row and
                                 column, not those of its background */
    uint32_t devices_count;
    const char *direction; /* of limit_directions, or NULL: unknown */
    uint64_t buffer_bytes; /* of one copy; 0: unknown */
};

/* "h2d", "d2h", "d2d", "h2h", "local" (inside one GPU), "both" (a total of two
 * directions); ends with NULL. */
extern const char *const limit_directions[];

/* The limit that holds: among those that match the cell, and bound its metric
 * from the side where it gets worse (min: higher is better; max: lower is
 * better) in its unit, the one with the most keys given, then the most literal
 * characters in match, then the suite's before the plan's, then the latest.
 * Limits in percent of link or expected bind bandwidths only. suite: position
 * in plan->suites. NULL: none. */
const struct plan_limit *limit_find(
    const struct plan *plan, uint32_t suite, const struct limit_cell *cell);

/* The text of the side that counts for the metric: min or max. */
const char *limit_text(const struct plan_limit *limit, uint32_t better);
/* 1 if match names its testcase without wildcards: then a base is demanded. */
int limit_is_exact(const struct plan_limit *limit);

/* The parts of a limit by themselves; each is true for a NULL pattern. */
int limit_matches_name(
    const char *match, const char *testcase, const char *metric);
/* Every device of the cell is in "0-3,5". */
int limit_matches_devices(
    const char *list, const int32_t *devices, uint32_t count);
/* "0-1": these two devices, in either order. */
int limit_matches_pair(
    const char *pair, const int32_t *devices, uint32_t count);
/* "64 MiB" exactly, or "1 MiB - 64 MiB", ends included. */
int limit_matches_size(const char *size, uint64_t bytes);

/* The same texts, tried: NVBW_OK or a sentence. */
int32_t limit_check_devices(const char *list, struct error *err);
int32_t limit_check_pair(const char *pair, struct error *err);
int32_t limit_check_size(const char *size, struct error *err);

#endif
