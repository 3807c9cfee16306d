/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The plan's `telemetry` as numbers: how often, and what is tolerated. Pure. */
#ifndef NVBW_TELEMETRY_RULES_H
#define NVBW_TELEMETRY_RULES_H

#include "plan.h"
#include "telemetry.h"

/* How much a counter of one GPU may rise in a run. */
struct counter_rule {
    const char *key;  /* in the plan, and the counter's name */
    const char *most; /* unless the plan says otherwise */
};
extern const struct counter_rule counter_rules[]; /* ends with a NULL key */

struct telemetry_rules {
    uint32_t enabled;
    uint64_t poll_ns, settle_ns;
    double throttled;    /* share of the time between two readings */
    double idle_percent; /* a GPU that is busy for no more counts as idle */
    const char *const *ignore; /* processes that do not count */
    uint32_t ignore_count;
    const struct plan *plan;
};

/* plan_check has tried the values before. */
void telemetry_rules_read(const struct plan *plan, struct telemetry_rules *out);

/* How much the counter may rise; INFINITY where no rule is for it. */
double telemetry_rules_most(
    const struct telemetry_rules *rules, const char *counter);

/* 1 if a process, "pid name", makes a GPU busy. A name in the list matches one
 * that begins with it, and one that the system cut off at 15 characters. */
int telemetry_rules_counts(
    const struct telemetry_rules *rules, const char *process);

#endif
