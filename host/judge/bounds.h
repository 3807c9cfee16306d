/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* From the text of a limit to a number for one cell: what the percentage is
 * of, and how that came about. Pure. */
#ifndef NVBW_BOUNDS_H
#define NVBW_BOUNDS_H

#include "counterpart.h"
#include "evidence.h"
#include "quantity.h"
#include "traffic_class.h"

struct siblings;

/* What bounds are computed from. */
struct bound_source {
    const struct evidence *evidence;
    const struct siblings *siblings;       /* of the cell's unit */
    const struct counterpart *counterpart; /* of the unit in the baseline; NULL:
                                              there is no baseline */
};

struct bound {
    enum limit_base base;
    double value;      /* in the metric's unit; NaN: the base is unknown */
    double base_value; /* what a percentage is of, NaN: absolute or unknown */
    char formula[768]; /* how base_value was computed, or "" */
    char trouble[256]; /* why there is no base, or "" */
};

/* Fills *out for a limit's text that plan_check has tried. */
void bound_of(const struct bound_source *source, const struct record *record,
    const char *text, struct bound *out);

/* ---- Siblings (siblings.c) ----
 * The measured cells of one unit by metric and traffic class: the same work on
 * like hardware, so their median says what this cell should reach. */
enum { SIBLINGS_LEAST = 3 };

struct siblings *siblings_new(struct arena *arena);
/* Adds a cell's figure. NVBW_E_SYSTEM without memory. */
int32_t siblings_add(struct siblings *siblings, const struct facts *facts,
    const struct record *record, double figure, struct arena *arena,
    struct error *err);
/* The median of the cell's class, itself included, and how many cells it is
 * of; NaN below SIBLINGS_LEAST. */
double siblings_median(const struct siblings *siblings,
    const struct facts *facts, const struct record *record,
    uint32_t *out_count);

#endif
