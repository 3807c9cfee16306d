/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Evidence: everything that a run leaves behind, in memory and, line by line,
 * in its journal. Reports, resume, compare and merge all start from it. */
#ifndef NVBW_EVIDENCE_H
#define NVBW_EVIDENCE_H

#include "efficiency.h"
#include "facts.h"
#include "plan.h"
#include "record.h"
#include "schema.h"
#include "telemetry.h"
#include "unit.h"

enum { EVIDENCE_VERSION = 1 };

/* First line of a journal. */
struct run_header {
    uint32_t version;  /* EVIDENCE_VERSION */
    const char *build; /* version and git id */
    const char *run_id;
    const char *command;      /* as typed */
    const char *started;      /* ISO 8601, UTC */
    uint64_t started_ns;      /* CLOCK_MONOTONIC */
    const char *boot_id;      /* to which that clock belongs */
    uint32_t untrusted;       /* 1: --trust-plugins was given */
    uint32_t wrapped;         /* 1: --wrap was given */
    const char **environment; /* NAME=value that workers got or that matters */
    uint32_t environment_count;
    uint32_t runs; /* 0: a run; of a baseline of several: how many, and each
                      attempt at a cell is one of them */
};

/* Something that happened, other than a cell. */
struct event {
    const char *what; /* "begun" (all that is planned stands before it),
                         "worker_start", "worker_end", "log", "tainted",
                         "untainted", "resumed", "stopped", "warning",
                         "telemetry" (why there is none, or none from here on),
                         "busy" (expected to be idle) */
    uint32_t level;   /* log: NVBW_LOG_* */
    int32_t unit;     /* or -1 */
    int32_t pid;      /* or 0 */
    int32_t gpu;      /* position in facts->gpus, or -1 */
    const char *text;
    uint64_t now_ns;
};

/* Last line of a finished run. */
struct run_end {
    const char *ended; /* ISO 8601 */
    uint64_t ended_ns;
    uint32_t interrupted; /* 1: by a signal */
    uint32_t budget_used; /* 1: the budget ran out */
};

struct evidence {
    struct run_header header;
    struct plan plan;
    struct facts facts;
    struct plugin_schema *plugins;
    uint32_t plugins_count;
    struct efficiency_file *efficiencies; /* those of the machine's GPUs */
    uint32_t efficiencies_count;
    struct unit *units;
    uint32_t units_count;
    struct record *records; /* in order of settling; of one attempt at one cell
                               the last counts */
    uint32_t records_count;
    struct event *events;
    uint32_t events_count;
    struct gpu_reading *readings; /* in order of time; some of all that were
                                     made: the series of the run */
    uint32_t readings_count;
    struct run_end end;
    uint32_t begun;                  /* 1: the event is there */
    uint32_t ended;                  /* 1: end is there */
    uint32_t torn;                   /* 1: a torn last line was dropped */
    const struct evidence *baseline; /* what `% of baseline` refers to, NULL:
                                        nothing; no line of the journal */
    struct evidence_index *index; /* of records by cell, kept by evidence_add;
                                     NULL in evidence that was put together
                                     by hand: then cells are searched for */
};

extern const struct fields run_header_fields, event_fields, run_end_fields;

/* Lines of a journal: {"type": "...", "data": {...}}. A reader passes over
 * types that it does not know. */
enum line_type {
    LINE_RUN = 1,
    LINE_PLAN,
    LINE_FACTS,
    LINE_PLUGIN,
    LINE_UNIT,
    LINE_CELL,
    LINE_EVENT,
    LINE_END,
    LINE_EFFICIENCY,
    LINE_READING
};
extern const struct name line_names[];
const struct fields *line_fields(uint32_t type);

/* One line, newline included, appended to buf. */
int32_t line_format(struct strbuf *buf, uint32_t line_type, const void *object,
    struct error *err);

/* ---- Writing (journal.c) ----
 * A journal belongs to one thread. Lines reach the disk at the latest 250 ms
 * after journal_add, if journal_tick is called that often; fdatasync is
 * called then, once for all lines since. A write that failed is tried again
 * from the byte where it ended, so a full disk leaves a whole journal once
 * there is room again. */
struct journal;

/* The largest journal that is read again; a run ends before its own is larger.
 * In memory it takes twice as much, a JSON report twenty times. */
#define JOURNAL_LIMIT_BYTES (UINT64_C(1) << 30)

/* Opens run_dir/journal.ndjson for appending, made if it is not there.
 * A torn last line is cut off. */
int32_t journal_open(
    const char *run_dir, struct journal **out, struct error *err);
/* Adds one line. Copied before it returns. */
int32_t journal_add(struct journal *journal, uint32_t line_type,
    const void *object, struct error *err);
/* Writes and syncs what is due at now_ns (CLOCK_MONOTONIC). Returns through
 * *out_due_ns when it wants to be called next, UINT64_MAX: never. */
int32_t journal_tick(struct journal *journal, uint64_t now_ns,
    uint64_t *out_due_ns, struct error *err);
/* Bytes on disk and still to be written. */
uint64_t journal_size(const struct journal *journal);
/* Writes all now, so that whoever reads the file sees it. */
int32_t journal_write(struct journal *journal, struct error *err);
/* Writes and syncs all now. */
int32_t journal_flush(struct journal *journal, struct error *err);
/* The journal's file. */
const char *journal_file(const struct journal *journal);
/* Reads all that was written, as evidence_read does, from the file that is
 * open, whatever has its name by now. NVBW_E_INVALID where somebody else
 * changed it. (journal_read.c) */
int32_t journal_read_back(const struct journal *journal, struct arena *arena,
    struct evidence *out, struct error *err);
/* What that needs of a journal: its descriptor, and the bytes written. */
int journal_fd(const struct journal *journal);
uint64_t journal_written(const struct journal *journal);
/* Flushes what it can and frees. */
void journal_close(struct journal *journal);

/* ---- Reading (journal_read.c) ---- */
/* Reads a journal or summary file of at most limit_bytes. A torn last line is
 * dropped; any other malformed line is an error with its number, and so is a
 * first line that is no header of this EVIDENCE_VERSION. */
int32_t evidence_read(const char *file, size_t limit_bytes, struct arena *arena,
    struct evidence *out, struct error *err);

/* The same for what a person names: a run directory, or a file. */
int32_t evidence_open(const char *path, size_t limit_bytes, struct arena *arena,
    struct evidence *out, struct error *err);

/* ---- In memory (evidence.c) ----
 * Evidence starts zeroed. Of headers the first counts, of plans, facts and
 * ends the last; an event "resumed" takes the end back. A unit replaces the
 * one with its id, a plugin the one of its name and file, a file of
 * efficiencies the one of its name; a record needs its unit to be there. */

/* Adds one object (deep copy into arena), as a line of that type would. */
int32_t evidence_add(struct evidence *evidence, struct arena *arena,
    uint32_t line_type, const void *object, struct error *err);

/* The same without the copy: what object points to lives as long as arena. */
int32_t evidence_adopt(struct evidence *evidence, struct arena *arena,
    uint32_t line_type, const void *object, struct error *err);

/* The record that counts for a cell: the last of the highest attempt; NULL if
 * there is none. */
const struct record *evidence_cell(const struct evidence *evidence,
    uint32_t unit, const char *metric, uint32_t row, uint32_t col);

/* The last record of a cell in order of settling, and the one of the same cell
 * before a given one: every attempt, backwards. NULL if there is none. */
const struct record *evidence_latest(const struct evidence *evidence,
    uint32_t unit, const char *metric, uint32_t row, uint32_t col);
const struct record *evidence_before(
    const struct evidence *evidence, const struct record *record);

#endif
