/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Sweeps: the points of a testcase, one unit each, from the values that its
 * parameters have in a plan. Pure. */
#ifndef NVBW_SWEEP_H
#define NVBW_SWEEP_H

#include "plan.h"
#include "unit.h"

enum { SWEEP_POINTS_LIMIT = 4096 };

/* One parameter and all its values. */
struct sweep_param {
    const char *name;
    const char **values;
    uint32_t values_count;
    uint32_t is_swept; /* 1: one value per point; else all at every point */
};
struct sweep {
    struct sweep_param *params; /* the standard ones, then the own */
    uint32_t params_count;
    uint32_t points; /* at least 1; the first swept parameter turns slowest */
};

int32_t sweep_build(const struct plan *plan, const struct plan_suite *suite,
    const struct testcase_schema *testcase, struct arena *arena,
    struct sweep *out, struct error *err);

/* The unit's params and sweep at one point. */
int32_t sweep_point(const struct sweep *sweep, uint32_t point,
    struct arena *arena, struct unit *unit, struct error *err);

/* "1 MiB, 2 MiB" as elements, blanks around them dropped. */
int32_t sweep_split(const char *text, struct arena *arena,
    const char ***out_values, uint32_t *out_count, struct error *err);

#endif
