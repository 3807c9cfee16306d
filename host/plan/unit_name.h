/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What a unit is called wherever a person reads of it. */
#ifndef NVBW_UNIT_NAME_H
#define NVBW_UNIT_NAME_H

#include "plan.h"
#include "unit.h"

enum { UNIT_NAME_BYTES = 256 };

/* The id of the unit's suite where it says more than the names of plugin and
 * testcase, which several suites may share; else NULL. */
const char *unit_suite_id(const struct plan *plan, const struct unit *unit);

/* "latency/host_device_latency_sm (random)", without the id where there is
 * none. Cut where it is longer. */
void unit_name(const struct plan *plan, const struct unit *unit,
    char out[UNIT_NAME_BYTES]);

#endif
