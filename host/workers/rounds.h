/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The plan's `duration`: its first round again and again, until so much time
 * has passed since the run began. A round that was begun is finished. */
#ifndef NVBW_ROUNDS_H
#define NVBW_ROUNDS_H

#include <time.h>

#include "ledger.h"

/* What time it is here, by the clock that runs since the machine was started
 * and by the one on the wall. */
struct rounds_clock {
    const char *boot_id; /* NULL: unknown */
    uint64_t now_ns;     /* host_clock */
    time_t now;
};

/* When no further round begins, on host_clock; 0 where the plan has no
 * duration or it is over. A run that began before the machine was started last
 * began when its header says. Pure. */
uint64_t rounds_end_ns(
    const struct evidence *evidence, const struct rounds_clock *clock);

/* 1 if a cell of the last round was measured, in this part of the run or in
 * one before it: a round in which nothing could be is not repeated. */
int rounds_last_measured(const struct evidence *evidence);

/* Adds the units of one more round to evidence and journal. */
int32_t rounds_add(
    struct ledger *ledger, struct evidence *evidence, struct error *err);

/* Settles the cells of a later round's unit that were left out of the first
 * round before it began (reason excluded), if they are not settled. */
int32_t rounds_leave_out(struct ledger *ledger, struct evidence *evidence,
    uint32_t unit, struct error *err);

#endif
