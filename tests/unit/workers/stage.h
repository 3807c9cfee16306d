/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What the tests of workers share: a made-up machine and plan in memory, the
 * fake worker, and a look at what is left behind. */
#ifndef NVBW_TEST_STAGE_H
#define NVBW_TEST_STAGE_H

#include "conduct.h"

struct stage {
    struct arena arena;
    struct evidence evidence;
    struct worker_setup setup;
    struct conduct_request request;
    uint32_t descriptors; /* open at the start */
};

/* A machine with two GPUs, "GPU-well" and "GPU-sick"; no units yet. */
void stage_open(struct stage *stage);
/* Fails the test if a descriptor or a child process is left. */
void stage_close(struct stage *stage);

/* Adds a unit of one metric "rate" with a row per cell, whose plugin is
 * /fake/NAME.so. */
struct unit *stage_add_unit(
    struct stage *stage, const char *name, uint32_t cells);
void stage_run(struct stage *stage);

/* The record that counts for a cell of a unit; fails the test if there is
 * none. */
const struct record *stage_record(
    const struct stage *stage, uint32_t unit, uint32_t cell);
/* Fails the test unless the cell is so. */
void stage_expect(const struct stage *stage, uint32_t unit, uint32_t cell,
    uint32_t state, const char *reason);
/* Of one cell and attempt, how many records there are. */
uint32_t stage_count(
    const struct stage *stage, uint32_t unit, uint32_t cell, uint32_t attempt);

/* What the judge will say: the next calls of judge_unit name this cell, so
 * many times; judge_run lets this cell of unit 0 fail. */
void stage_judge(uint32_t cell, uint32_t times);

#endif
