/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Conducts a run: asks workers to describe plugins and machine, then carries
 * out the schedule in run workers, restarting, confirming and giving up as
 * the contract says. The host process itself loads no plugin, no CUDA and no
 * NVML. */
#ifndef NVBW_CONDUCT_H
#define NVBW_CONDUCT_H

#include "discover.h"
#include "evidence.h"
#include "schedule.h"

/* How workers are started; the same for all commands. */
struct worker_setup {
    const char *worker_file; /* nvbw-worker beside nvbw-host */
    const char *driver_file; /* --driver, or NULL */
    const char *sim_profile; /* --sim-profile, or NULL */
    const char *const *wrap; /* --wrap as argv, for run workers, or NULL */
    const char *log_dir;     /* run_dir/workers, or NULL: logs are dropped */
    uint64_t describe_ns;    /* deadline of workers that touch no CUDA */
    uint64_t answer_ns;      /* of those that do: the driver of a machine with
                             many GPUs takes its time to wake up */
    const char *build;
};

/* Asks a worker of its own for each candidate's schema (C12, decisions: each
 * plugin is described in a process of its own), several at once. A plugin that
 * crashes, hangs or breaks the contract gets state, reason and message. Of two
 * descriptors of one name the first is kept, as discover_plugins orders; the
 * other is a problem (C22): an error within one source, a warning across
 * sources, and nothing where it is the same file or the first was pinned. */
int32_t workers_describe(const struct worker_setup *setup,
    const struct candidates *candidates, struct arena *arena,
    struct plugin_schema **out_plugins, uint32_t *out_count,
    struct problems *problems, struct error *err);

/* Asks a worker for the facts. A worker that hangs or dies is not an error:
 * the facts then hold what the host itself can read of the system and say in
 * driver_trouble what happened. */
int32_t workers_facts(const struct worker_setup *setup, struct arena *arena,
    struct facts *out, struct error *err);

/* The recorded run of a unit, without CUDA: its labels, and one record per
 * measurement cell with its flows (state NONE). */
struct recording {
    struct labels_frame *labels;
    uint32_t labels_count;
    struct record *records;
    uint32_t records_count;
    int32_t status;
    const char *message;
    uint32_t calls; /* of the host that can fail, for torture */
};
int32_t workers_record(const struct worker_setup *setup,
    const struct facts *facts, const struct unit *unit, struct arena *arena,
    struct recording *out, struct error *err);

/* What the testcase's check() says of a unit's parameters. */
struct check_answer {
    struct refused_frame *refused;
    uint32_t refused_count;
    const char *trouble; /* why it could not tell, or NULL */
};
/* Asks one worker per unit, several at once; of a unit plugin, plugin_file,
 * testcase and params are used. answers are zeroed, one per unit.
 * (check_units.c) */
int32_t workers_check(const struct worker_setup *setup,
    const struct unit *units, uint32_t count, struct arena *arena,
    struct check_answer *answers, struct error *err);

/* A recorded run in which one call of the host fails. */
struct torture {
    uint32_t call;   /* which, from 1 */
    char name[32];   /* the function, "" if it is not known */
    char fault[512]; /* what the plugin did then, "": it ended cleanly */
};
/* Fills the rest of each: every call has a worker of its own, several at
 * once. */
int32_t workers_torture(const struct worker_setup *setup,
    const struct facts *facts, const struct unit *unit,
    struct torture *tortures, uint32_t count, struct error *err);

/* What a watcher of the run is told; any member may be NULL. Called from the
 * conductor's loop; must not block. */
struct conduct_watch {
    void *user;
    /* Units beyond those that evidence had at the start. */
    void (*units_added)(void *user, const struct unit *units, uint32_t count);
    /* number: the run's, from 0; unit->id is that within its round. */
    void (*unit_begins)(
        void *user, const struct unit *unit, uint32_t number, uint32_t wanted);
    void (*cells_begin)(
        void *user, const struct unit *unit, const struct begin_frame *begin);
    void (*cell_settled)(
        void *user, const struct unit *unit, const struct record *record);
    void (*event)(void *user, const struct event *event);
    void (*reading)(void *user, const struct gpu_reading *reading);
    void (*tick)(void *user, uint64_t now_ns); /* about four times a second */
};

struct team;

struct conduct_request {
    const struct worker_setup *setup;
    struct evidence *evidence; /* header, plan, facts, plugins and units are
                                  there; it is whole again once conduct_run
                                  returns (rounds.h) */
    struct arena *arena;
    struct journal *journal;     /* has the lines of all that evidence has; may
                                    be NULL (tests) */
    uint64_t journal_most_bytes; /* larger than which it must not become */
    uint64_t budget_ns;          /* UINT64_MAX: unbounded */
    uint64_t grace_ns;           /* from SIGTERM to SIGKILL */
    uint32_t has_telemetry;      /* 1: unless the plan does without */
    uint32_t rerun_failed;       /* resume: measure again what did not pass */
    const struct conduct_watch *watch;
    int signal_fd;     /* signalfd with SIGINT, SIGTERM blocked elsewhere; -1 */
    struct team *team; /* of rank 0 of an MPI job, whose worker is used and
                          handed over; else NULL */
};

/* Carries out all units. Cells that evidence already settles are not wanted
 * again (resume). Always comes back with every planned cell settled; negative
 * only if the journal cannot be written or memory is out. */
int32_t conduct_run(const struct conduct_request *request, struct error *err);

#endif
