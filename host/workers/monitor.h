/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Telemetry on the host's side: one watch worker beside the run worker, what
 * it read of each GPU lately, and what that means for the cells in flight. How
 * readings come about stands in telemetry.h.
 *
 * The watch worker is started when the run begins. The first measurement of
 * each run worker waits for its reading: until NVML is open, for at most 5 s
 * from the run's begin, and then at most for an answer's 5 s. What a run of a
 * few cells finds must not depend on which worker opens its driver first.
 * Later ones wait 20 ms, and so does everybody when their questions were open
 * for 20 s in all.
 * While the watch worker is restarted and after it was given up, who asks is
 * told at once that there is no reading. One that hangs, dies or breaks the
 * protocol is replaced twice; then, and where NVML cannot be opened at all, the
 * run goes on without telemetry and an event `telemetry` says why in one
 * sentence, and whether there was some before. */
#ifndef NVBW_MONITOR_H
#define NVBW_MONITOR_H

#include "ledger.h"
#include "supervise.h"
#include "telemetry_rules.h"

enum { MONITOR_OTHERS = 8, MONITOR_OTHER_BYTES = 80 };

/* One GPU. now_ns of 0: there is no such reading. */
struct monitored {
    struct gpu_reading last;
    uint32_t last_is_whole;    /* 0: only what is quick to read */
    double xids_before;        /* counted by watch workers that ended */
    struct gpu_reading window; /* from which throttling is counted */
    uint32_t in_flight;
    struct gpu_reading first;  /* of the measurement in flight */
    struct gpu_telemetry cell; /* of the measurement in flight */
    char others[MONITOR_OTHERS][MONITOR_OTHER_BYTES];
    uint32_t others_count;
    char now_others[MONITOR_OTHERS][MONITOR_OTHER_BYTES]; /* last reading's */
    uint32_t now_others_count;
    /* The series that is written. */
    uint64_t due_ns, step_ns;
    uint32_t written;
    uint32_t unwritten; /* 1: last is not in the series */
};

/* What was asked of the watch worker and not yet answered. */
struct monitor_question {
    uint64_t number; /* 0: nothing */
    uint64_t asked_ns;
    uint32_t kind;
    struct worker *asker; /* that waits for the answer, NULL: the host */
    uint64_t asker_number;
    /* Of the asker: since when it waits, the deadline that it was given for
     * that, and how much later it is than the one that it had. */
    uint64_t waits_from_ns, deadline_ns, lent_ns;
    uint64_t waits_until_ns; /* then it goes on without */
};

struct monitor {
    const struct conduct_request *request;
    struct crew *crew;
    struct ledger *ledger;
    struct telemetry_rules rules;
    struct worker worker;
    uint32_t is_wanted; /* 1: the plan has telemetry and there are GPUs */
    uint32_t is_open;   /* 1: the worker answers */
    uint32_t ended;     /* 1: there will be no more readings */
    uint32_t starts;
    uint64_t open_by_ns;   /* until then its opening is waited for */
    uint64_t last_by_ns;   /* until then its last readings are */
    uint64_t patience_ns;  /* how much longer run workers may wait in all */
    uint32_t measuring;    /* 1: a measurement is in flight */
    uint32_t has_measured; /* 1: one was */
    uint64_t begun;     /* numbers, as that began: earlier questions are none of
                           its own */
    struct error fatal; /* the journal cannot be written */
    uint64_t poll_due_ns;
    uint64_t numbers;
    struct monitor_question asked;
    struct monitor_question waiting; /* to be asked after that */
    struct monitored *gpus;          /* in order of facts->gpus */
    uint32_t *list;                  /* room for their positions */
    uint32_t *waiting_gpus;
    uint32_t waiting_gpus_count;
    uint32_t gpus_count;
    struct arena arena;      /* as long as the monitor */
    struct arena cell_arena; /* of what was joined last */
};

/* Negative only without memory. */
int32_t monitor_open(struct monitor *monitor,
    const struct conduct_request *request, struct crew *crew,
    struct ledger *ledger, struct error *err);
/* Starts the worker where the plan wants telemetry. */
int32_t monitor_start(struct monitor *monitor, struct error *err);
/* Polls, notices ends and overdue answers. *out_due_ns: when next. */
int32_t monitor_tick(
    struct monitor *monitor, uint64_t *out_due_ns, struct error *err);
/* Asks for the last readings of the run; nothing is measured any more. */
int32_t monitor_last(struct monitor *monitor, struct error *err);
/* Waits for them, at most 2 s, writes them and lets the worker end. */
int32_t monitor_stop(struct monitor *monitor, struct error *err);
void monitor_close(struct monitor *monitor);

/* 1 if a watch worker of this run has read anything. */
int monitor_has_readings(const struct monitor *monitor);

/* BEGIN and the end of what a run worker measures. */
void monitor_begin(
    struct monitor *monitor, const uint32_t *gpus, uint32_t gpus_count);
void monitor_rest(struct monitor *monitor);

/* READ of a run worker: answered now or when the reading is there. */
int32_t monitor_ask(struct monitor *monitor, struct worker *asker,
    const struct read_frame *read, struct error *err);
/* Whoever asked is gone. */
void monitor_forget(struct monitor *monitor, const struct worker *asker);

/* Adds the telemetry of its GPUs to a settled cell, and the flags `busy` and
 * `power_capped`. What it adds lives until the next call. */
int32_t monitor_join(
    struct monitor *monitor, struct record *record, struct error *err);

#endif
