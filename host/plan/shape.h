/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Shapes: the cells of a unit, from its testcase's metrics. Pure. */
#ifndef NVBW_SHAPE_H
#define NVBW_SHAPE_H

#include "facts.h"
#include "schema.h"
#include "unit.h"
#include "wire.h"

enum {
    SHAPE_AXIS_LIMIT = 1 << 20, /* entries of one axis */
    SHAPE_SPAN_LIMIT = 1 << 20  /* cells of one unit */
};

/* Fills unit->shapes and open_axes. The unit's params, gpus, nodes and state
 * are there. A unit that cannot run still has a cell per metric to say so. */
int32_t shape_build(const struct testcase_schema *testcase,
    const struct facts *facts, struct arena *arena, struct unit *unit,
    struct error *err);

/* Labels of text axes from a recorded run; closes unit->open_axes. */
int32_t shape_close(struct unit *unit, const struct labels_frame *labels,
    uint32_t labels_count, struct arena *arena, struct error *err);

#endif
