/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The set of cells that a unit is still to be run for: the one mechanism of a
 * first run, of what a crash left over, of confirming and of resuming. */
#ifndef NVBW_WANTED_H
#define NVBW_WANTED_H

#include "arena.h"
#include "status.h"
#include "unit.h"

struct wanted {
    const struct unit *unit;
    unsigned char *has; /* by cell number */
    uint32_t span, count;
};

/* An empty set. Lives in arena. */
int32_t wanted_init(struct wanted *wanted, const struct unit *unit,
    struct arena *arena, struct error *err);
/* Numbers that are no cells of the unit have no effect. */
void wanted_add(struct wanted *wanted, uint32_t cell);
void wanted_remove(struct wanted *wanted, uint32_t cell);
/* Adds what the derived cells of the set are computed from: the cells at their
 * places, or all of a metric whose axes are others. For attempts in which a
 * derived cell must not stand on an earlier one's figures. */
void wanted_add_sources(struct wanted *wanted);
int wanted_has(const struct wanted *wanted, uint32_t cell);
/* The first cell from this number on, or -1. */
int32_t wanted_next(const struct wanted *wanted, uint32_t from);
/* All of them, in order. */
int32_t wanted_list(const struct wanted *wanted, struct arena *arena,
    uint32_t **out_cells, uint32_t *out_count, struct error *err);

#endif
