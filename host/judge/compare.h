/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Compare: two runs cell by cell, by intervals and not by points. A cell is
 * the same only if the interval of its change lies within the margin, and
 * slower or faster only if it lies wholly beyond the reach: the margin, or what
 * two runs of a healthy machine differ by in that kind of traffic
 * (between_runs.h). Between the two nothing is known. Pure. */
#ifndef NVBW_COMPARE_H
#define NVBW_COMPARE_H

#include "cell_figure.h"
#include "counterpart.h"

/* Equivalence margin where the baseline's own spread is no wider. */
#define COMPARE_MARGIN 0.02
/* The most that the old run's spread may widen the margin to: one hiccup in it
 * must not hide that a machine lost half of its bandwidth. */
#define COMPARE_SPREAD_MOST 0.10
/* Two runs of a healthy machine differ by this, whatever their samples say. */
#define COMPARE_BETWEEN_RUNS 0.005

enum comparison_word {
    COMPARE_SAME = 1,
    COMPARE_SLOWER,
    COMPARE_FASTER,
    COMPARE_UNSURE,
    COMPARE_LOST,     /* measured before, planned now and not measured */
    COMPARE_LEFT_OUT, /* the same, because the plan, its devices or the budget
                         left it out: it says nothing of the machine */
    COMPARE_ONLY_NEW, /* measured now only */
    COMPARE_WORDS
};
extern const struct name comparison_words[];

struct comparison {
    uint32_t unit, cell; /* numbers in the new run */
    uint32_t word;
    struct cell_figure before, now;
    double change;    /* gain: positive is better; NaN: no figure */
    double low, high; /* interval of the change, NaN: not known */
    double margin;
    double reach;       /* margin at least */
    const char *kind;   /* of traffic, by the table; "runs of the baseline"
                          where several runs told; NULL: no figures */
    const char *reason; /* UNSURE, LOST, LEFT_OUT: why, or NULL */
};

struct comparisons {
    struct comparison *list; /* in order of the new run's units and cells */
    uint32_t count;
    uint32_t by_word[COMPARE_WORDS];
    uint32_t only_old; /* measured before and not planned now; more rounds of
                          what was planned are not counted */
    int32_t exit_code; /* 0: nothing slower or lost; 1 */
};

struct compare_request {
    const struct evidence *before, *now;
    double margin; /* COMPARE_MARGIN if nothing else is asked */
    int force;     /* 1: other machines and parameters too */
};

/* NVBW_E_INVALID and a sentence where the runs cannot be compared. */
int32_t compare_runs(const struct compare_request *request, struct arena *arena,
    struct comparisons *out, struct error *err);

#endif
