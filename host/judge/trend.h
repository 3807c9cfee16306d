/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Trends: does a cell get worse from round to round? A straight line through
 * the figures of its rounds, with an interval of its slope, so that one slow
 * round is no trend. Each round is judged by its own limits besides. Pure. */
#ifndef NVBW_TREND_H
#define NVBW_TREND_H

#include "cells.h"

/* Fewer rounds with a figure tell nothing of a slope. */
enum { TREND_ROUNDS_LEAST = 6 };
/* A fall by less is no finding, however sure. */
#define TREND_FALL_LEAST 0.02

struct trend {
    uint32_t unit;    /* of the first round */
    uint32_t cell;    /* number in the unit */
    uint32_t rounds;  /* that have a figure */
    double first;     /* the line's figure in the first of them */
    double change;    /* gain from the first to the last of them: less than 0
                          is worse, for latencies too */
    double low, high; /* its interval at 99 % */
    double reach;     /* what runs of a healthy machine differ by */
    uint32_t is_fall; /* 1: worse for sure, and by more than that */
    const struct record *record; /* of the last of them */
};

/* A line through values; x are round numbers, rising. 0: too few, or no line.
 * Fills rounds, first, change, low and high. */
int trend_of(const double *x, const double *values, uint32_t count,
    uint32_t better, struct trend *out);

/* Those of all cells whose units have enough rounds, in order of the first
 * round's units and cells, into out->trends. After all cells are judged. */
int32_t trends_add(const struct judging *judging, struct verdicts *out);

#endif
