/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A plan from nvbandwidth's flags instead of a file: the same struct, in fixed
 * mode with nvbandwidth's parameters, a suite for each testcase in the order
 * asked for, and every value with the flag that it came from. */
#ifndef NVBW_NVBANDWIDTH_PLAN_H
#define NVBW_NVBANDWIDTH_PLAN_H

#include "plan.h"

/* The flags as given; NULL, none or 0 for those that are not there. */
struct nvbandwidth_flags {
    const char **testcases; /* -t: names and numbers */
    uint32_t testcases_count;
    const char **prefixes; /* -p */
    uint32_t prefixes_count;
    const char **pair; /* --pair */
    uint32_t pair_count;
    const char *buffer_mib; /* -b */
    const char *samples;    /* -i */
    const char *loop_count; /* --loopCount */
    const char *version;    /* --nvbandwidth-version */
    const char *format;     /* --format */
    const char *pairs;      /* --targetNumPairs */
    int skip_verification, disable_affinity, use_mean, perf, verbose, json,
        huge_pages;
};

/* What is wrong with the flags themselves is one sentence in err and
 * NVBW_E_INVALID; values of parameters are left to plan_check. What a number
 * means and what a flag does not do goes to problems as notes of level
 * warning. A testcase that nobody knows stays in the plan. */
int32_t nvbandwidth_plan(const struct nvbandwidth_flags *flags,
    struct arena *arena, struct plan *out_plan, struct problems *problems,
    struct error *err);

/* Once plugins are known: hands each suite to the plugin that offers its
 * testcase. A testcase that none offers gets a plugin that cannot be used, so
 * that its cell says why. */
int32_t nvbandwidth_plan_settle(struct arena *arena, struct plan *plan,
    struct plugin_schema **plugins, uint32_t *plugins_count, struct error *err);

#endif
