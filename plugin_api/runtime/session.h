/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Session: one call of engine_measure in progress. The sampler (pilot, looks
 * at the interval, retries) works on a session through its backend and does
 * not know who moves the bytes. */
#ifndef NVBW_SESSION_H
#define NVBW_SESSION_H

#include "buffer.h"
#include "engine.h"

/* A flow, resolved against the machine. */
struct flow_run {
    const struct nvbw_flow *given;
    struct flow_record record;        /* resolved places, bytes, copies */
    struct buffer *src, *dst, *third; /* third: the operations of STREAM */
    uint64_t src_step, dst_step;      /* from one copy's slice to the next */
    int32_t cell;                     /* index in session->targets, or -1 */
    int32_t reverse;                  /* likewise, for SPLIT */
    uint32_t part;                    /* of the request */
    void *state;                      /* the backend's */
};

/* Something that gets a figure. */
struct target {
    const struct nvbw_cell *cell;
    struct record *record;
    uint32_t is_total;     /* of all flows of its part */
    uint32_t unit;         /* NVBW_UNIT_* of its metric */
    uint32_t part;         /* of the request */
    uint32_t units_missed; /* of a chase: SMs that had no turn so far, though
                              there were as many turns as SMs */
    const char *found_by;  /* between ranks: "1, 3-4": whose memory had wrong
                             words, or NULL */
};
/* 1 if the target is a total that this flow is in. */
static inline int target_totals(
    const struct target *target, const struct flow_run *flow)
{
    return target->is_total && target->part == flow->part;
}

/* What one sample gave, per target: how long and how many bytes (or repeats
 * for figures in nanoseconds). */
struct sample_figure {
    double seconds;
    double amount;
};
enum sample_state {
    SAMPLE_GOOD = 0,
    SAMPLE_GATE_TIMEOUT,
    SAMPLE_UNCOVERED, /* background ended too early or stood still */
    SAMPLE_CLOCK,     /* host and device clocks disagree */
    SAMPLE_UNWATCHED, /* the host was away when it should have looked */
    SAMPLE_SERIALISED
};
struct sample {
    enum sample_state state;
    struct sample_figure *figures; /* targets_count of them */
    double seconds;                /* whole sample, for the pilot */
    double clock_gap_ns;           /* UNWATCHED: how long the host was away */
    double cover_margin;
};

/* Who carries samples out: CUDA streams or CPU threads. A session has one
 * backend; flows of both kinds at once are refused. */
struct session;
struct backend {
    const char *name, *clock; /* "cuda", "events"; "cpu", "host" */
    uint32_t gated;
    /* Buffers, streams, threads; fills record.node_seen. */
    int32_t (*open)(struct session *session, struct error *err);
    /* For this many copies per counted flow and this background factor. */
    int32_t (*prepare)(struct session *session, uint64_t copies,
        double background, struct error *err);
    int32_t (*sample)(
        struct session *session, struct sample *out, struct error *err);
    /* Compares what arrived with what was sent; fills the targets' records
     * (verified, mismatches, ...). Called after every sample. */
    int32_t (*verify)(struct session *session, struct error *err);
    /* Moves on to other memory where a figure may depend on which it is. May
     * be NULL. */
    void (*move)(struct session *session);
    void (*close)(struct session *session);
};
extern const struct backend backend_cuda; /* backend_cuda.c */
extern const struct backend backend_cpu;  /* backend_cpu.c */

struct session {
    struct engine *engine; /* may be NULL for backend_cpu */
    const struct facts *facts;
    const struct measure_request *request;
    struct measure_params params; /* effective */
    struct arena *arena;
    const struct backend *backend;
    struct flow_run *flows;
    uint32_t flows_count;
    struct target *targets;
    uint32_t targets_count;
    uint32_t contended; /* 1: background flows, or more than one counted */
    uint32_t epoch;     /* of the data; raised per sample */
    /* Bounds for the pilot's count of copies, set by the backend's open where
     * they are not these: 4 and 200. */
    uint64_t copies_least, copies_limit;
    struct buffer_pool *pool;
    void *state; /* the backend's */
};

/* Runs the whole of it: pilot, samples, statistics' stopping rule, states.
 * Every target's record is settled when this returns NVBW_OK. Negative: a
 * cancel, no memory for records. (sampler.c) */
int32_t sampler_run(struct session *session, struct error *err);

/* Settles a record that has no state yet; the first word stands. code is a
 * name from reason_table; message is copied into arena. (settle.c) */
void settle_record(struct arena *arena, struct record *record, uint32_t state,
    const char *code, const struct error *err);
/* The same for every target of the session that is not settled. */
void settle_session(struct session *session, uint32_t state, const char *code,
    const struct error *err);
/* The same from a negative status and its words: a skip with its reason, a
 * broken contract, an error of driver or system. */
void settle_failed(struct session *session, const struct error *err);
/* Adds a flag once. */
void settle_flag(struct arena *arena, struct record *record, const char *flag);

#endif
