/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The attempts at one cell: the first and those that confirm it. Pure. */
#ifndef NVBW_ATTEMPTS_H
#define NVBW_ATTEMPTS_H

#include "evidence.h"

enum { ATTEMPTS_LIMIT = 64 };

struct attempts {
    const struct record *counting; /* decides the state; NULL: none at all */
    uint32_t count;                /* that measured something */
    double medians[ATTEMPTS_LIMIT];
    const struct record *records[ATTEMPTS_LIMIT];
    double figure; /* median of medians; NaN: none */
};

/* Only attempts of one series: that of the counting record. --rerun-failed
 * begins another, and what went before it is history. Of each attempt the last
 * record counts, of all the highest attempt; one that was never made (not_run,
 * cancelled) does not take a measured one back. */
void attempts_of_cell(const struct evidence *evidence, uint32_t unit,
    const char *metric, uint32_t row, uint32_t col, struct attempts *out);

/* The record whose own median is nearest to the figure. */
const struct record *attempts_typical(const struct attempts *attempts);

/* 1 if passed of count attempts are enough: the majority, or k under the rule
 * "k of n". A first attempt that passed needs no other. */
int attempts_are_enough(const char *pass_rule, uint32_t passed, uint32_t count);

#endif
