/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Counterparts: the same cell in another run. Cells are matched by what they
 * are about, GPUs by their UUIDs, and never by their place in a list, so a run
 * of some of the GPUs finds its cells in a run of all. Pure. */
#ifndef NVBW_COUNTERPART_H
#define NVBW_COUNTERPART_H

#include "evidence.h"

/* 1 if both are of one testcase and sweep, in whatever round. */
int counterpart_is_same_unit(const struct unit *one, const struct unit *other);

/* NVBW_OK if both are facts of one machine: the same GPUs, wherever they are
 * counted, and both real or both simulated. Else NVBW_E_INVALID and a sentence
 * that begins after "of another machine: ". */
int32_t counterpart_machine(
    const struct facts *other, const struct facts *own, struct error *err);

/* One unit's. */
struct counterpart {
    const struct evidence *other;
    const struct unit *unit; /* there; NULL: none that can be compared */
    uint32_t *gpus, *nodes;  /* positions there of positions here; UINT32_MAX:
                                none */
    int32_t differs;         /* 1: there is one, with other parameters */
    char trouble[256];       /* why there is none, or "" */
};

/* by_place: GPUs and nodes are matched by their places, for another machine.
 * Negative only without memory. */
int32_t counterpart_of_unit(const struct evidence *own, const struct unit *unit,
    const struct evidence *other, int by_place, struct arena *arena,
    struct counterpart *out, struct error *err);

/* 1 and the place there of a cell of the unit, or 0. */
int counterpart_cell(const struct counterpart *counterpart,
    const struct unit *own, const struct cell_place *place,
    struct cell_place *out_place);

#endif
