/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* One attempt at one unit: a set of wanted cells, run in as many workers as it
 * takes until each is settled. */
#ifndef NVBW_UNIT_RUN_H
#define NVBW_UNIT_RUN_H

#include "monitor.h"
#include "rounds.h"
#include "runner.h"
#include "wanted.h"

/* What lasts for the whole run. */
struct conductor {
    const struct conduct_request *request;
    struct crew crew;
    struct ledger ledger;
    struct rounds rounds; /* units and cells are those of rounds.now */
    struct taint taint;
    struct runner runner;
    struct monitor monitor;
    uint64_t budget_end_ns; /* UINT64_MAX: none */
    uint32_t budget_used;
    char unfit[256];    /* why nothing may be measured, "": something may */
    uint32_t mpi;       /* 1: MPI mode, no restart after a worker's end */
    uint32_t mpi_ended; /* 1: its worker has ended */
    char mpi_why[512];  /* and why */
};

struct unit_run {
    struct conductor *conductor;
    const struct unit *unit;
    uint32_t attempt;
    uint32_t is_extra;   /* 1: confirming. Cells that a stop or the budget cuts
                          off then keep what they have: no record is made */
    struct arena *arena; /* of this unit */
    struct wanted wanted;
    const struct recording *recording; /* for taint_blocks, or NULL */
    /* The rest is for the time of a task. */
    struct wanted in_flight;
    uint32_t parts; /* in flight side by side, of which one ended the worker */
    /* Cells that were in flight side by side when a worker ended: they are run
     * again one after another, so that only the culprit bears it. */
    struct wanted doubt;
    uint32_t apart; /* 1: that is being done */
    uint32_t *gpus; /* in flight: positions in facts->gpus */
    uint32_t gpus_count;
    uint32_t has_begun, begun_at; /* BEGIN restarted the clock at this count */
    uint32_t begun;   /* 1: the worker said something of this task */
    uint32_t settled; /* cells by this worker */
    uint32_t barren;  /* ends in a row without a settled cell */
    uint32_t done;    /* 1: DONE came */
    uint64_t log_bytes;
    uint32_t log_dropped;
    struct error fatal; /* status: what went wrong on the host's side */
};

/* run->conductor, unit, attempt, is_extra, arena and the filled wanted set are
 * given. Negative only if evidence or journal cannot be written or memory is
 * out. */
int32_t unit_run_cells(struct unit_run *run, struct error *err);

/* Settles all that is wanted with one cause. */
int32_t unit_run_settle_all(
    struct unit_run *run, const struct cause *cause, struct error *err);

/* Bytes that may be added to the journal. */
uint64_t conductor_journal_room(const struct conductor *conductor);

/* 1 and the cause if nothing more may be measured: stopped, or out of time. */
int conductor_is_cut(struct conductor *conductor, struct cause *out);

/* Ends the run worker within what a stopped run may take. */
void conductor_stop_worker(struct conductor *conductor);

/* One turn of the loop: waits for something to happen, at most until
 * until_ns. */
int32_t conductor_wait(
    struct conductor *conductor, uint64_t until_ns, struct error *err);

#endif
