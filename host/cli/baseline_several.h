/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A baseline of several runs of one machine: the figures of each, so that what
 * the machine differs by from run to run is known and need not be taken from a
 * table (host/judge/between_runs.h). It has the form of every baseline; each
 * attempt at a cell is one run's, the one nearest to that run's figure. */
#ifndef NVBW_BASELINE_SEVERAL_H
#define NVBW_BASELINE_SEVERAL_H

#include "judge.h"

struct baseline_run {
    const char *name; /* as a person gave it */
    struct evidence evidence;
    struct verdicts verdicts;
};

/* Header, plan, facts and units are the first run's. NVBW_E_INVALID where the
 * runs are of different machines or parameters. *out_cells have a figure of
 * one run at least, *out_left have none. */
int32_t baseline_format_several(const struct baseline_run *runs, uint32_t count,
    struct arena *arena, struct strbuf *out, uint32_t *out_cells,
    uint32_t *out_left, struct error *err);

#endif
