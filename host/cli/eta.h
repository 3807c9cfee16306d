/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* How long a run will still take. Cells differ in cost by a factor of ten and
 * the dear ones often come first, so cells are not counted but weighed: each
 * by what the cost model expects of it (fit_budget.h). What the machine has
 * taken so far for what the model expected scales the rest; until some seconds
 * of work are done, the model is believed. Pure. */
#ifndef NVBW_ETA_H
#define NVBW_ETA_H

#include <stddef.h>

struct unit;
struct cost_model;

struct eta {
    double planned; /* model seconds of all cells that may still be measured
                       or were */
    double done;    /* of those that were */
};

/* A unit comes, whose cells are then told one by one. */
void eta_add_unit(
    struct eta *eta, const struct unit *unit, const struct cost_model *model);
/* One of its cells is settled. was_measured 0: it cost nothing, and the rest
 * is not quicker for it. */
void eta_settle_cell(struct eta *eta, const struct unit *unit,
    const struct cost_model *model, int was_measured);
/* Seconds left after that many have passed; 0 if nothing is left. */
double eta_left(const struct eta *eta, double passed_seconds);

#endif
