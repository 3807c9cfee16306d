/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The verdicts of one unit's cells. Pure. */
#ifndef NVBW_CELLS_H
#define NVBW_CELLS_H

#include "bounds.h"
#include "judge.h"

struct judging {
    const struct evidence *evidence;
    struct arena *arena;
    struct error *err;
};

/* Fills list, which has room for unit_cell_count verdicts, in order. */
int32_t cells_judge(
    const struct judging *judging, uint32_t unit, struct verdict *list);

/* Why a cell is not_run that has no record and whose unit has no word. */
const char *cells_unreached_reason(const struct evidence *evidence);

/* Machine numbers of the GPUs that a cell's row and column name. */
uint32_t cell_devices(const struct facts *facts, const struct unit *unit,
    const struct unit_shape *shape, uint32_t row, uint32_t col,
    int32_t out_devices[2]);

#endif
