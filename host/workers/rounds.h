/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The rounds of a run, of which one at a time is in memory: a burn-in of a day
 * must not grow. What a round measured is, once the next one has begun, in the
 * journal alone, and comes back from there when the run is over. Those of
 * `repeat` are planned; those of `duration` are added, the first one again and
 * again, until so much time has passed since the run began. A round that was
 * begun is finished. */
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

struct rounds {
    /* What is planned, with what an earlier part of the run measured, and at
     * the end of it all the whole run. */
    struct evidence *run;
    struct arena *run_arena;
    struct journal *journal; /* or NULL: then run keeps every round */
    struct ledger *ledger;
    /* The round at work: the run's plan and facts, its own units, numbered
     * from 0, their records, and what has happened meanwhile. */
    struct evidence now;
    struct arena arena;  /* of now */
    uint32_t number;     /* of that round */
    uint32_t first_unit; /* the run's number of its unit 0 */
    uint32_t next_unit;  /* that of the unit after its last one */
    uint32_t known;   /* so many of now's records, the first ones, are run's */
    uint32_t left;    /* rounds that are in the journal alone */
    uint32_t *order;  /* numbers of run's records, unit by unit */
    uint32_t *starts; /* per unit and once more: its first place in order */
};

/* Opens the first round, into which the ledger writes from then on. rounds
 * must not be moved before rounds_close. */
int32_t rounds_open(struct rounds *rounds,
    const struct conduct_request *request, struct ledger *ledger,
    struct error *err);

/* 1 if a round is planned after this one. */
int rounds_has_next(const struct rounds *rounds);
/* Leaves this round and opens the next one that is planned; where there is
 * none, adds one: the first again, with its cells that were left out before
 * the run began (reason excluded). */
int32_t rounds_next(struct rounds *rounds, struct error *err);

/* 1 if a cell of this round was measured, in this part of the run or in one
 * before it: a round in which nothing could be is not repeated. */
int rounds_has_measured(const struct rounds *rounds);

/* To be called when an axis of one of this round's units is closed: added
 * rounds, which are as the first one, need not close it again. */
int32_t rounds_keep_axes(
    struct rounds *rounds, const struct unit *unit, struct error *err);

/* Completes run with all that was measured. Where that was more than a round
 * it is read from the journal, which takes a second for some 50 MB of it. */
int32_t rounds_gather(struct rounds *rounds, struct error *err);
void rounds_close(struct rounds *rounds);

#endif
