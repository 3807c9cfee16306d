/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The plan's `duration`: its first round again and again, until so much time
 * has passed since the run began. A round that was begun is finished. */
#ifndef NVBW_ROUNDS_H
#define NVBW_ROUNDS_H

#include "ledger.h"

/* When no further round begins, on host_clock; 0 where the plan has no
 * duration, or the run began before this machine was last started. */
uint64_t rounds_end_ns(const struct evidence *evidence);

/* 1 if a cell of the last round was measured, in this part of the run or in
 * one before it: a round in which nothing could be is not repeated. */
int rounds_last_measured(const struct evidence *evidence);

/* Adds the units of one more round to evidence and journal. */
int32_t rounds_add(
    struct ledger *ledger, struct evidence *evidence, struct error *err);

#endif
