/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Between runs: by how much two runs of one healthy machine differ, minutes
 * apart. The samples of one run do not show it: what other users of the host's
 * memory do, where pages came to lie and how the links were shared is the same
 * for all samples of a cell and another in the next run.
 *
 * A baseline of several runs knows it of its own machine. Without one there is
 * a table, a row for each kind of traffic, of what was seen. Pure. */
#ifndef NVBW_BETWEEN_RUNS_H
#define NVBW_BETWEEN_RUNS_H

#include "traffic.h"

/* Fewer runs say too little of their scatter. */
#define BETWEEN_RUNS_LEAST 3
/* The most that several runs' scatter may amount to: a machine that lost half
 * of its bandwidth is slower, whatever its runs differed by before. */
#define BETWEEN_RUNS_MOST 0.35

struct between_runs {
    double reach;     /* relative: two healthy runs differ by no more */
    const char *what; /* "host memory", for a sentence */
};

/* By the table. measure: NVBW_UNIT_*. */
struct between_runs between_runs_of(
    const struct traffic *traffic, uint32_t measure);

/* From the medians of several runs: how far another run's lies from theirs at
 * most, at 99 %, because a run has a hundred cells and one that is called
 * slower in error sends a person to a machine. NaN: too few. */
double between_runs_seen(const double *medians, uint32_t count);

#endif
