/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Schedule: the units of a run in order, from plan, schemas and facts. Pure:
 * the same input gives the same list with the same numbers. */
#ifndef NVBW_SCHEDULE_H
#define NVBW_SCHEDULE_H

#include "plan.h"
#include "unit.h"
#include "wire.h"

struct schedule {
    struct unit *units;
    uint32_t units_count;
    uint32_t cells; /* planned */
};

/* One unit per enabled suite x matching testcase x sweep point, or one
 * placeholder unit (testcase "*", one cell of metric "plugin") for a plugin
 * that cannot be used. Needs that the machine does not meet set state, reason
 * and message of the unit, worded by host/plugin/needs.h. Units with a text
 * axis have open_axes set until schedule_close_axes. */
int32_t schedule_build(const struct plan *plan,
    const struct plugin_schema *plugins, uint32_t plugins_count,
    const struct facts *facts, struct arena *arena, struct schedule *out,
    struct error *err);

/* Gives a unit the labels that its recorded run named and counts its cells. */
int32_t schedule_close_axes(struct schedule *schedule, uint32_t unit,
    const struct labels_frame *labels, uint32_t labels_count,
    struct arena *arena, struct error *err);

#endif
