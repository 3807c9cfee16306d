/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A cell's figure with what its attempts and samples tell of its scatter, for
 * comparisons between runs. Pure. */
#ifndef NVBW_CELL_FIGURE_H
#define NVBW_CELL_FIGURE_H

#include "between_runs.h"
#include "evidence.h"

enum { FIGURE_SAMPLES_LEAST = 3 }; /* below, scatter is not known */

struct cell_figure {
    double value;     /* median of the attempts' medians */
    double low, high; /* interval of the median, or the range of too few
                         samples for one, widened to all attempts' medians;
                         NaN: not known */
    double spread;    /* range of all samples, relative; NaN */
    double between;   /* relative reach of another run, where this is of
                         several (between_runs_seen); NaN */
    uint32_t attempts, samples;
    const struct record *record; /* the attempt nearest to value */
};

/* 1 if the cell was measured in its last word. A derived figure of too few
 * samples scatters as those that it may be derived of: cells of the unit at
 * its place whose metric has the same axes. */
int cell_figure_of(const struct evidence *evidence, uint32_t unit,
    const char *metric, uint32_t row, uint32_t col, struct cell_figure *out);

/* By the table of between_runs.h, from the record's traffic and, for a derived
 * cell, which has none of its own, from that of the cells that it may be
 * derived of: the widest of them. record: of this cell. */
struct between_runs cell_between_runs(const struct evidence *evidence,
    const struct record *record, const struct unit_shape *shape);

#endif
