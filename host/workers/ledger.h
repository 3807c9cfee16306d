/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Where the conductor writes what happens: evidence in memory, the journal,
 * and whoever watches. */
#ifndef NVBW_LEDGER_H
#define NVBW_LEDGER_H

#include "conduct.h"
#include "worker_end.h"

struct ledger {
    struct evidence *evidence;         /* of the round at work */
    struct arena *arena;               /* of that */
    uint32_t first_unit;               /* the journal's number of its unit 0 */
    struct journal *journal;           /* or NULL */
    const struct conduct_watch *watch; /* or NULL */
    uint32_t series;                   /* of the records to come */
    uint64_t journal_due_ns, watch_due_ns;
};

/* Writes into the request's evidence, until rounds_open says otherwise. */
void ledger_init(struct ledger *ledger, const struct conduct_request *request);

/* One settled cell. */
int32_t ledger_record(struct ledger *ledger, const struct unit *unit,
    const struct record *record, struct error *err);
/* A cell on which no worker had a word. */
int32_t ledger_settle(struct ledger *ledger, const struct unit *unit,
    uint32_t attempt, uint32_t cell, const struct cause *cause,
    struct error *err);
/* now_ns is filled in. */
int32_t ledger_event(
    struct ledger *ledger, const struct event *event, struct error *err);
/* Whoever watches is told of a reading; it is not written. */
void ledger_tell_reading(
    const struct ledger *ledger, const struct gpu_reading *reading);
/* Evidence and journal alone, for lines of other types. */
int32_t ledger_add(struct ledger *ledger, uint32_t line_type,
    const void *object, struct error *err);

/* Syncs the journal and tells the watcher the time where that is due; returns
 * through *out_due_ns when it wants to be called next. */
int32_t ledger_tick(
    struct ledger *ledger, uint64_t *out_due_ns, struct error *err);

#endif
