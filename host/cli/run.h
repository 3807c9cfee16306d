/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The middle of `run` and `resume`: units to evidence. */
#ifndef NVBW_RUN_H
#define NVBW_RUN_H

#include "conduct.h"
#include "options.h"

struct run_parts {
    const struct worker_setup *setup;
    struct evidence *evidence;
    struct arena *arena;
    struct journal *journal;
    struct team *team; /* of rank 0 of an MPI job, else NULL */
};

/* The plan's budget, UINT64_MAX where it has none. */
int32_t run_budget(
    const struct plan *plan, uint64_t *out_ns, struct error *err);

/* Blocks SIGINT and SIGTERM, which a signalfd then brings. */
int run_open_signals(void);

/* Conducts all units with progress on stderr and signals as the contract
 * says. */
int32_t run_units(const struct options *options, const struct run_parts *run,
    struct error *err);

#endif
