/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The run worker: one at a time, kept from unit to unit as far as `isolate`
 * allows, started anew where it must be. */
#ifndef NVBW_RUNNER_H
#define NVBW_RUNNER_H

#include "ledger.h"
#include "supervise.h"
#include "taint.h"

struct runner {
    struct worker worker;
    char key[4400];      /* which units may share this worker */
    uint32_t tasks;      /* that this worker was given */
    uint32_t has_driver; /* 1: it began a measurement on GPUs, so its driver
                            is up */
    void *task;          /* whoever takes its frames now, or NULL: idle */
};

/* Which units share a worker: those of equal keys. */
void runner_key(const struct unit *unit, const struct plugin_schema *plugins,
    uint32_t plugins_count, char *out, size_t size);

/* A live worker for the unit: the one that is there, or a fresh one after the
 * old one has been told to quit. on_frame as in worker_start; its worker->user
 * is the runner. */
int32_t runner_ensure(struct runner *runner, struct crew *crew,
    const struct conduct_request *request, struct ledger *ledger,
    const struct taint *taint, const struct unit *unit,
    worker_frame_fn *on_frame, struct error *err);

/* Takes over the worker that an MPI job has from before, and from now on gives
 * no other. */
void runner_adopt(struct runner *runner, const struct conduct_request *request,
    worker_frame_fn *on_frame);

/* Lets an idle worker quit, and waits for it, within a bound of time. */
int32_t runner_retire(struct runner *runner, struct crew *crew,
    struct ledger *ledger, struct error *err);

/* Writes the event of the worker's end, once. */
int32_t runner_note_end(
    struct runner *runner, struct ledger *ledger, struct error *err);

#endif
