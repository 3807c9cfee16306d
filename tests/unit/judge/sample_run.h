/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A run on two H200, put together by hand. */
#ifndef NVBW_SAMPLE_RUN_H
#define NVBW_SAMPLE_RUN_H

#include "evidence.h"
#include "state.h"

enum { SAMPLE_H2D = 0, SAMPLE_PEER, SAMPLE_LATENCY, SAMPLE_UNITS };

/* Facts of two H200 as measured; units of the three kinds above with all
 * their cells measured well; a plan that asks 95 % of expected. Lives in
 * arena. Never fails: exits on no memory. */
void sample_run(struct evidence *out, struct arena *arena);
/* Adds a unit of the same shape as H2D with a state of its own and returns its
 * id. */
uint32_t sample_closed_unit(struct evidence *evidence, struct arena *arena,
    const char *testcase, uint32_t state, const char *reason,
    const char *message);
/* Adds a record with eight samples around figure. */
void sample_figure(struct evidence *evidence, struct arena *arena,
    uint32_t unit, uint32_t row, uint32_t col, uint32_t attempt, double figure);
/* Adds a record without samples. */
void sample_state(struct evidence *evidence, struct arena *arena, uint32_t unit,
    uint32_t row, uint32_t col, uint32_t state, const char *reason,
    const char *message);
/* Replaces the plan's limits by one. */
void sample_limit(struct evidence *evidence, struct arena *arena,
    const char *match, const char *min, const char *max);

#endif
