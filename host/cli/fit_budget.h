/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Fits a schedule into the plan's budget before it begins: fewer samples
 * first, then some pairs of GPUs for all. Pure, and from the schedule alone, so
 * the same plan on the same machine leaves out the same. What is left out is
 * told; what does not fit even so ends as not_run. */
#ifndef NVBW_FIT_BUDGET_H
#define NVBW_FIT_BUDGET_H

#include "schedule.h"

/* What cells cost, in seconds: taken from whole runs on 2 x H200 and rounded up
 * (docs/durations.md). Of the metrics of one measurement the one with most
 * cells counts. */
struct cost_model {
    double start;      /* of the run: driver, workers, pinning */
    double start_gpu;  /* of a GPU's context and buffers */
    double cell;       /* between host and GPU or within a GPU, with at most
                          FIT_SAMPLES_FULL samples */
    double peer;       /* of a pair of GPUs */
    double host;       /* of host memory by itself, latencies too */
    double latency;    /* of a latency */
    double random;     /* of one in a random order */
    double per_sample; /* share of a cell's cost that samples have */
    double fixed;      /* of a cell in fixed mode, with FIT_SAMPLES_FIXED */
};
extern const struct cost_model cost_of_cells;

enum { FIT_SAMPLES_FULL = 15, FIT_SAMPLES_LEAST = 8, FIT_SAMPLES_FIXED = 3 };

/* Of all that will run, in seconds, as the plan says. */
double fit_estimate(
    const struct schedule *schedule, const struct cost_model *model);

/* Of all cells of a unit; 0 if it will not run. */
double fit_unit_seconds(
    const struct unit *unit, const struct cost_model *model);

struct fit {
    double before, after; /* seconds, estimated */
    uint32_t samples;     /* most of a cell, 0: as the plan says */
    uint32_t pairs;       /* of each matrix of pairs, 0: all */
    uint32_t all_pairs;   /* of the largest matrix */
};

/* Looks at the units that will run and decides; changes nothing. */
void fit_budget(const struct schedule *schedule, uint64_t budget_ns,
    const struct cost_model *model, struct fit *out);

/* Gives the units their smaller number of samples. Texts live in arena. */
int32_t fit_apply(const struct fit *fit, struct schedule *schedule,
    struct arena *arena, struct error *err);

/* One sentence on what was decided, or NULL where all fits. */
const char *fit_words(
    const struct fit *fit, uint64_t budget_ns, struct arena *arena);

#endif
