/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The pipe between host and worker.
 *
 * Descriptor 3 of a worker brings frames from the host, descriptor 4 takes
 * frames to it. A frame is a header of 12 bytes (magic, type, length, all
 * little-endian) and a payload, which is one struct in the encoding of
 * common/fields.h. Both ends are the same build: HELLO carries the build's
 * identity and the host refuses any other.
 *
 *   host -> worker   FACTS, then TASK ... (one at a time), then QUIT
 *   worker -> host   HELLO, then per task: PLUGIN | FACTS | LABELS, BEGIN,
 *                    CELL, LOG in any order, and DONE; at the end BYE
 *
 * What a task asks for:
 *   describe  PLUGIN with its descriptors                      no CUDA
 *   record    run() against a recording table: LABELS, and CELL frames with
 *             state NONE and the flows of each measurement     no CUDA
 *   check     the testcase's word on the values of the unit's parameters:
 *             REFUSED for each that is wrong                   no CUDA
 *   run       the unit's wanted cells
 *   facts     FACTS
 *   health    DONE says whether the task's GPUs still answer
 *   join      starts MPI: TEAM, and FACTS of all ranks together
 *   follow    of the ranks but 0: what rank 0 is asked for, until it quits
 *   watch     DONE once NVML is open; from then on each READ is answered
 *
 * READ asks for readings of GPUs: from the host it goes to the watch worker,
 * which answers with READINGS; from a run worker it goes to the host, which
 * passes it on and answers with READ_DONE (see telemetry.h). */
#ifndef NVBW_WIRE_H
#define NVBW_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "facts.h"
#include "fields.h"
#include "record.h"
#include "schema.h"
#include "telemetry.h"
#include "unit.h"

enum {
    WIRE_MAGIC = 0x5742564e, /* "NVBW" */
    WIRE_HEADER_BYTES = 12,
    WIRE_FRAME_LIMIT = 64 << 20,
    WIRE_IN_FD = 3,
    WIRE_OUT_FD = 4
};

enum frame_type {
    FRAME_HELLO = 1,
    FRAME_FACTS,
    FRAME_TASK,
    FRAME_QUIT,
    FRAME_PLUGIN,
    FRAME_LABELS,
    FRAME_BEGIN,
    FRAME_CELL,
    FRAME_LOG,
    FRAME_DONE,
    FRAME_BYE,
    FRAME_TEAM,
    FRAME_READ,
    FRAME_READINGS,
    FRAME_READ_DONE,
    FRAME_REFUSED,
    FRAME_TYPE_END
};

enum task_role {
    TASK_DESCRIBE = 1,
    TASK_RECORD,
    TASK_RUN,
    TASK_FACTS,
    TASK_HEALTH,
    TASK_JOIN,
    TASK_FOLLOW,
    TASK_WATCH,
    TASK_CHECK
};
extern const struct name task_role_names[];

struct hello_frame {
    const char *build; /* version and git id of the worker */
    int32_t pid;
    uint64_t now_ns; /* CLOCK_MONOTONIC */
};

/* What an earlier worker left of a cell: samples, for figure(), or why there
 * are none. */
struct settled_cell {
    uint32_t cell;      /* number in the unit */
    uint32_t state;     /* STATE_*, as recorded */
    const char *reason; /* or NULL */
    double *samples;
    uint32_t samples_count;
};

struct task_frame {
    uint32_t role;           /* TASK_* */
    const char *plugin_file; /* real path; NULL for facts and health */
    const char *driver_file; /* instead of libcuda.so.1, or NULL */
    struct unit unit;        /* record and run */
    uint32_t attempt;
    uint32_t *wanted; /* cell numbers; for run: these and no others */
    uint32_t wanted_count;
    struct settled_cell *settled;
    uint32_t settled_count;
    uint64_t budget_ns; /* left for the whole run, UINT64_MAX: unbounded */
    uint32_t *gpus;     /* health, join: positions in facts->gpus */
    uint32_t gpus_count;
    uint32_t apart;     /* run: 1: what the plugin measures side by side is
                           measured one after another */
    uint32_t watched;   /* run: 1: the host answers READ */
    uint32_t fail_call; /* record: this call of the host fails; 0: none */
    uint32_t name_call; /* record: this one is only named in DONE; 0: none */
    uint32_t allow_multicast; /* run: the plan says so */
    const char **mpi_plugins; /* join: the files of all MPI plugins of the run,
                                 plugin_file among them, in order */
    uint32_t mpi_plugins_count;
};

struct quit_frame {
    uint32_t unused;
};

struct labels_frame {
    const char *metric;
    uint32_t axis; /* 0: rows, 1: cols */
    const char **names;
    uint32_t names_count;
};

/* A value that the testcase's check() refuses. */
struct refused_frame {
    const char *param; /* as in the unit */
    uint32_t element;
    const char *text;
};

/* Where this process stands in an MPI job, and whether its ranks can measure
 * together. */
struct team_frame {
    uint32_t rank, ranks;
    const char *handle;  /* how memory is shared: "fabric", "descriptor" */
    const char *reason;  /* of the skip where it cannot be, else NULL */
    const char *message; /* which ranks cannot, and what to do */
};

/* Sent before each measurement: these cells are in flight on these GPUs. */
struct begin_frame {
    uint32_t *cells;
    uint32_t cells_count;
    uint32_t *gpus; /* positions in facts->gpus */
    uint32_t gpus_count;
    uint32_t parts; /* that run side by side and have nothing to do with each
                       other; 0 or 1: one */
    uint64_t now_ns;
};

enum read_kind {
    READ_BEGIN = 1, /* before a measurement: one that was just made will do */
    READ_LOAD,      /* while copies run: what is quick to read */
    READ_LOOK,      /* after samples */
    READ_POLL       /* nothing is being measured */
};
extern const struct name read_kind_names[];

struct read_frame {
    uint64_t number; /* the asker's: it comes back in the answer */
    uint32_t kind;   /* READ_* */
    uint32_t *gpus;  /* positions in facts->gpus */
    uint32_t gpus_count;
};

struct readings_frame {
    uint64_t number;
    struct gpu_reading *readings;
    uint32_t readings_count;
};

struct read_done_frame {
    uint64_t number;
    uint32_t throttled;  /* 1: since the reading before, more than the plan
                            tolerates */
    const char *message; /* of it, one sentence */
};

struct log_frame {
    uint32_t level;
    const char *text;
    uint64_t now_ns;
    uint32_t dropped; /* lines dropped before this one */
};

/* The task is finished. status is what run() (or the role) returned. For each
 * wanted cell without a CELL frame the host records `unsettled`. */
struct done_frame {
    int32_t status;
    int64_t code;
    const char *reason;  /* code from reason_table for what is left, or NULL */
    const char *message; /* one sentence, or NULL */
    uint32_t state;      /* STATE_* of all cells left; NONE: `unsettled` */
    uint32_t calls;      /* record: calls of the host that can fail, in order */
    const char *failed_call; /* the one of fail_call or name_call */
};

/* The worker ends by itself: "finished", "poisoned" (sticky CUDA error),
 * "contract", "cancelled" or "team" (another rank of its MPI job is lost). */
struct bye_frame {
    const char *why;
    const char *message;
};

extern const struct fields hello_fields, task_fields, quit_fields,
    labels_fields, team_fields, begin_fields, log_fields, done_fields,
    bye_fields, read_fields, readings_fields, read_done_fields, refused_fields;

/* The payload's table by frame type; NULL for an unknown type. */
const struct fields *wire_fields(uint32_t type);

/* A frame found in a buffer. */
struct frame {
    uint32_t type;
    const unsigned char *payload;
    size_t payload_bytes;
    size_t frame_bytes; /* header included: how far to go on */
};

/* Looks for a frame at the start of the given bytes. Returns 1 and *out, 0 if
 * more bytes are needed, NVBW_E_INVALID if this can never be a frame. Pure. */
int32_t wire_find(
    const void *bytes, size_t length, struct frame *out, struct error *err);

/* Encodes and writes one frame, whole; blocks while the pipe is full.
 * NVBW_E_SYSTEM with errno as code when the other end is gone. */
int32_t wire_send(int fd, uint32_t type, const void *object, struct error *err);
/* Only encodes, appending to buf. */
int32_t wire_encode(
    uint32_t type, const void *object, struct strbuf *buf, struct error *err);

/* Blocking reader of a worker: one frame into an arena. Returns 1, 0 at end
 * of file, or negative. *object points to a struct of the type's table. */
int32_t wire_receive(int fd, struct arena *arena, uint32_t *out_type,
    void **out_object, struct error *err);

#endif
