/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A session on GPUs: what backend_cuda.c and its parts share. One part a
 * file: cuda_open.c, cuda_describe.c, slices.c (which bytes a copy touches),
 * ways.c (where they go), contents.c (what stands in them before),
 * stream_plan.c (what is queued), by_host.c (whose clock), gate.c, cover.c,
 * overlap.c, verify.c. */
#ifndef NVBW_CUDA_SESSION_H
#define NVBW_CUDA_SESSION_H

#include "engine_state.h"
#include "initiator.h"
#include "pattern.h"
#include "session.h"

enum {
    STREAM_OPERATIONS = 256, /* queued behind a gate at most */
    OTHER_OPERATIONS = 16,   /* of these, beside copies and waits */
    COPIES_MOST = 200,
    COPIES_PACED = 4, /* of each flow that is measured with others, at least */
    BACKGROUND_SLICES = 16, /* that a background flow goes round in */
    CHUNKS_LEAST = 33,      /* one chunk is at most 1/32 of its sample */
    CHUNKS_MOST = 110       /* two operations each */
};

#define COARSE_RATIO 0.02

/* The copy that warms up has a slice of its own. */
#define COPY_WARM_UP UINT64_MAX

struct cuda_flow {
    struct flow_run *run;
    struct gpu *gpu; /* of the executor */
    uint32_t opened; /* 1: by this process, so it closes it */
    const struct initiator *initiator;
    struct CUstream_st *stream;
    struct CUevent_st *ready, *start, *end;
    struct CUevent_st *first; /* after the first counted copy, or NULL */
    uint32_t slot;            /* position of its words */
    uint32_t number;          /* in the session; the same for all ranks */
    uint32_t background;
    uint64_t copies; /* of a sample, or chunks of the background */
    /* Of either side, beside the one for warm-up. A sample takes as many as it
     * has copies, and the next sample the ones after: so samples are short and
     * what they go through is still larger than a host's cache. */
    uint64_t slices;
    uint64_t turn;   /* the slice with which this sample begins */
    uint64_t laps;   /* times that they were gone through, where sources stand;
                      they are then read in another order */
    uint32_t single; /* 1: one slice, for the warm-up too (fixed mode) */
    uint32_t apart;  /* 1: but the warm-up has its own, since the one slice
                        cannot be poisoned after it */
    uint64_t spare, shift; /* slices for moves, and at which the first is */
    /* By way (ways.c): of what stands in its source, or is written. */
    uint64_t epochs[2];
    uint64_t over_ns;   /* by the host's clock, when its stream was empty */
    double rate;        /* bytes/s seen in the last sample; background */
    double full_rate;   /* of a load: bytes/s as fast as it can, 0: unknown */
    double seconds;     /* between ranks: of the last sample */
    uint32_t ended;     /* 1: before the measured flows in that sample */
    uint32_t standing;  /* 1: sources that stand were filled, not tagged yet */
    uint32_t filled;    /* 1: contents were set since the buffers are there */
    uint32_t comparing; /* 1: the comparison of its destination is queued */
    uint64_t content;   /* that its initiator lays into the source; see
                           buffer.h */
    void *state;        /* the initiator's */
};

/* One direction in which bytes of a flow go: of each slice those from `begin`
 * on. A SPLIT has two, all other operations one. */
struct way {
    struct buffer *from, *to; /* NULL: a WRITE has no source, a READ no end */
    uint64_t begin, bytes;
    uint32_t is_back; /* from dst to src */
};
enum { WAYS = 2 };

struct cuda_session {
    struct session *session;
    struct engine *engine;
    /* Those that this process carries out come first, `count` of them, of
     * which counted_count are no background; the rest, up to all_count, is
     * carried out by other ranks. */
    struct cuda_flow *flows;
    uint32_t count, all_count, counted_count;
    uint32_t background_count; /* of all; one rank carries out all flows of a
                                  session that has any (flow_support.c) */
    struct cuda_flow *hub;     /* the counted flow whose stream keeps the time;
                              NULL: other ranks carry all of them out */
    struct cuda_flow *lead; /* the first counted flow, whoever carries it out:
                               what is decided of all follows from it */
    struct peers *peers;    /* of an MPI job, else NULL */
    struct buffer *flag;    /* between ranks: the word that opens all gates */
    double *rank_seconds;   /* between ranks: of the last sample, by rank */
    struct CUevent_st *last_end;
    struct CUevent_st *covered; /* after the last snapshot, or NULL */
    uint32_t gated;
    uint32_t by_host;  /* 1: the host's clock counts; never gated (by_host.c) */
    uint64_t begun_ns; /* by that clock, before the first counted call */
    struct cpu_mask *thread_before; /* where this thread ran, or NULL */
    uint32_t background_verified;
    double seconds; /* of the last good sample, 0: none */
    double queued_seconds;
    /* How exactly the background's bytes are known in the last sample: the
     * chunks of its flows, which are at random points when it starts and ends,
     * root of the sum of squares. */
    double step_bytes;
    /* Moves of local memory so far, and the places that it has had; 0: it was
     * not moved. */
    uint32_t moves, placements;
    uint32_t coarse; /* 1: a total is known no better than to COARSE_RATIO */
};

/* The flow with this number. */
static inline struct cuda_flow *cuda_flow_at(
    const struct cuda_session *cuda, uint32_t number)
{
    return (struct cuda_flow *)cuda->session->flows[number].state;
}

/* cuda_open.c */
/* From the session's flows; on failure the caller closes it too. */
int32_t cuda_session_open(struct cuda_session *cuda, struct error *err);
/* A context that a sticky error or a hang has taken is left as it is: calls
 * on it fail, or wait for ever. */
void cuda_session_close(struct cuda_session *cuda);

/* On the flow's own stream, whose GPU is in use. (stream_plan.c) */
int32_t cuda_record_event(
    const struct cuda_flow *flow, struct CUevent_st *event, struct error *err);
/* Seconds between two events of the flow's context, more than 0.
 * (backend_cuda.c) */
int32_t cuda_elapsed(const struct cuda_flow *flow, struct CUevent_st *start,
    struct CUevent_st *end, double *out_seconds, struct error *err);
/* What the flow's copies of a sample count in a figure of this unit: bytes, or
 * how often. (backend_cuda.c) */
double cuda_amount(const struct cuda_flow *flow, uint32_t unit);
/* What is told of a stream that does not end. (backend_cuda.c) */
int32_t cuda_hangs(const struct cuda_flow *flow, struct error *err);

/* cuda_describe.c */
void cuda_describe_records(const struct cuda_session *cuda);
/* The node of a flow's host memory as read back, if it has any. */
void cuda_describe_node(const struct cuda_session *cuda, struct flow_run *run);

/* slices.c */
/* Buffers and counts for so many copies and so much background. */
int32_t slices_get(struct cuda_session *cuda, uint64_t copies,
    double background, struct error *err);
void slices_put(struct cuda_session *cuda);
/* Begins at another slice of the buffers, where they have spare ones. Not by
 * getting other memory: a driver scrubs what is freed in the background, which
 * took 10 % of an H200's bandwidth for as long as it lasted. */
void slices_move(struct cuda_session *cuda);
/* Bytes from the begin of source or destination to a slice. */
uint64_t slices_src_at(const struct cuda_flow *flow, uint64_t slice);
uint64_t slices_dst_at(const struct cuda_flow *flow, uint64_t slice);
/* Bytes from the begin of source or destination to the n-th copy's slice. */
uint64_t slices_src_offset(const struct cuda_flow *flow, uint64_t copy);
uint64_t slices_dst_offset(const struct cuda_flow *flow, uint64_t copy);
/* The slice of the source or the destination that the n-th copy has. */
uint64_t slices_src_number(const struct cuda_flow *flow, uint64_t copy);
uint64_t slices_dst_number(const struct cuda_flow *flow, uint64_t copy);
/* Bytes of the n-th copy: of a flow's size, but a warm-up with a slice of its
 * own is short, since it only has to wake what it goes through. */
uint64_t slices_bytes(const struct cuda_flow *flow, uint64_t copy);
/* How many slices a sample uses. */
uint64_t slices_used(const struct cuda_flow *flow);
/* Goes on to the slices of the next sample. */
void slices_turn(struct cuda_flow *flow);
/* Slices in all, the one for warm-up included. */
uint64_t slices_all(const struct cuda_flow *flow);
/* Footprint of a flow: all slices of both sides. */
uint64_t slices_footprint(const struct cuda_flow *flow);
/* How many chunks of which size for so many bytes of background. Pure. */
void slices_chunks(uint64_t bytes, uint64_t *out_count, uint64_t *out_bytes);

/* ways.c: pure */
/* A flow's ways, and how many. */
uint32_t ways_of(const struct cuda_flow *flow, struct way out_ways[WAYS]);
/* 1 if the source's contents stand for all samples: those on hosts do, since
 * filling them takes as long as copying them. */
int way_stands(const struct cuda_flow *flow, const struct way *way);
/* The slice that the n-th copy takes from; where the way's bytes of a slice
 * are, from the begin of the buffer on; where those of the n-th copy go; and
 * the key of a slice's pattern. */
uint64_t way_from_slice(
    const struct cuda_flow *flow, const struct way *way, uint64_t copy);
uint64_t way_from_at(
    const struct cuda_flow *flow, const struct way *way, uint64_t slice);
uint64_t way_to_at(
    const struct cuda_flow *flow, const struct way *way, uint64_t copy);
uint64_t way_key(
    const struct cuda_flow *flow, const struct way *way, uint64_t slice);

/* contents.c */
/* What poisoned memory holds: no pattern has many such words. */
#define POISON_WORD UINT64_C(0xa5c396e1b4d287f0)
/* Fills sources for the next sample, and poisons destinations where what they
 * hold could pass for it. */
int32_t contents_set(struct cuda_session *cuda, struct error *err);
uint64_t contents_key(const struct cuda_flow *flow, uint64_t slice);
/* What a source that stands holds, as a number for its buffer: flows of equal
 * tags need not fill it twice. */
uint64_t contents_tag(const struct cuda_flow *flow, uint32_t is_back);
/* The key of what a SPLIT sends back. */
uint64_t contents_back_key(const struct cuda_flow *flow, uint64_t slice);
/* Queues fresh poison on the flow's stream wherever its copies write. */
int32_t contents_poison_again(struct cuda_flow *flow, struct error *err);
/* The GPU that fills and compares a buffer fastest, or NULL: the CPU. */
struct gpu *contents_owner(const struct cuda_session *cuda,
    const struct cuda_flow *flow, const struct buffer *buffer);

/* gate.c */
int32_t gate_close(struct cuda_session *cuda, struct error *err);
void gate_open(struct cuda_session *cuda);
/* When a gate opens by itself: between ranks later than any of them stops
 * waiting for the others. */
uint64_t gate_limit(const struct cuda_session *cuda, const struct gpu *gpu);
/* 1 if any gate opened by its own timeout. */
int gate_timed_out(const struct cuda_session *cuda);

/* session_team.c: what ranks agree on; alone, nothing. */
/* 1 if this process works on that GPU's memory. */
int team_owns(const struct cuda_session *cuda, const struct gpu *gpu);
/* Opens and closes the word that opens the gates of all ranks. */
int32_t team_open(struct cuda_session *cuda, struct error *err);
void team_close(struct cuda_session *cuda);
/* Clears that word. */
int32_t team_clear(struct cuda_session *cuda, struct error *err);
/* Queues what opens the gates of all ranks as soon as the host opens rank 0's
 * own. */
int32_t team_queue(struct cuda_session *cuda, struct error *err);
/* The address that gates look at. */
cu_address team_release(const struct cuda_session *cuda);
/* Ends an operation that all ranks are in, as peers_agree. */
int32_t team_agree(const struct cuda_session *cuda, const char *step,
    int32_t status, struct error *err);
/* Waits for all ranks. */
int32_t team_meet(
    const struct cuda_session *cuda, const char *step, struct error *err);
/* After the gate was opened: a simulated machine has a clock of its own in each
 * process, so there nobody goes on before the word is seen by all. */
int32_t team_opened(struct cuda_session *cuda, struct error *err);
/* The times of all flows to all ranks, what was seen of the background, and the
 * sample's state. */
int32_t team_share_sample(
    struct cuda_session *cuda, struct sample *sample, struct error *err);
/* Of one target: bytes, and the seconds with which they give the sum of the
 * ranks' rates. */
void team_total(const struct cuda_session *cuda, uint32_t target,
    struct sample_figure *out);
/* Runs a comparison and adds what all ranks found to the records of all. */
int32_t team_verify(struct cuda_session *cuda,
    int32_t (*verify)(struct cuda_session *cuda, struct error *err),
    struct error *err);

/* by_host.c */
/* 1 if the flow is timed by the host. */
int by_host_is_flow(const struct flow_record *record);
/* Moves this thread to the node of the host's memory, else to that nearest to
 * the GPU, and back to where it was. */
int32_t by_host_open(struct cuda_session *cuda, struct error *err);
void by_host_close(struct cuda_session *cuda);
/* Waits until all that was queued before the counted copies is over, and takes
 * the time. Where the session is not timed by the host, nothing; the next two
 * likewise. */
int32_t by_host_begin(struct cuda_session *cuda, struct error *err);
/* Waits for the counted flows and takes the time of each. */
int32_t by_host_end(struct cuda_session *cuda, struct error *err);
/* From the begin to the end of one flow, or of all: NULL. */
double by_host_seconds(
    const struct cuda_session *cuda, const struct cuda_flow *flow);

/* stream_plan.c */
/* Queues a sample on all streams, behind the gate where there is one. */
int32_t stream_plan_queue(struct cuda_session *cuda, struct error *err);
/* Runs everything a sample is made of once, ungated. */
int32_t stream_plan_try(struct cuda_session *cuda, struct error *err);

/* cover.c */
int32_t cover_snapshot(
    struct cuda_session *cuda, uint32_t which, struct error *err);
/* Judges the two snapshots: state and margin of the sample, rates of the
 * background flows, and the bytes that the background moves in `seconds`. */
int32_t cover_judge(struct cuda_session *cuda, double seconds,
    struct sample *sample, double *out_bytes, struct error *err);

/* together.c: by stamps of kernels */
/* Marks the sample where flows of one GPU ran one after another. */
int32_t together_judge(
    struct cuda_session *cuda, struct sample *sample, struct error *err);

/* overlap.c: by the pace of copies */
/* 1 if the flow's event `first` tells its pace. */
uint32_t overlap_has_pace(
    const struct cuda_session *cuda, const struct cuda_flow *flow);
/* Judges a sample of several counted flows: state. */
int32_t overlap_judge(
    const struct cuda_session *cuda, struct sample *sample, struct error *err);
/* 1 if a flow began late, told from the seconds of its first copy and of the
 * rest of them. Pure. */
int overlap_is_late(double first, double rest, uint64_t copies);

/* verify.c */
/* A comparison of one flow's destination. */
struct finding {
    uint64_t bytes, wrong;
    struct pattern_fault first;
};
/* Adds a finding to the records that it concerns. */
void verify_tell(struct cuda_session *cuda, const struct cuda_flow *flow,
    const struct finding *finding);
/* The engine's own comparison of one flow's copies. */
int32_t verify_copies(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err);
/* After a wrong byte what a flow's buffers hold is not taken for granted by the
 * next flow. */
void verify_doubt(const struct cuda_flow *flow);
int32_t verify_counted(struct cuda_session *cuda, struct error *err);
int32_t verify_background(struct cuda_session *cuda, struct error *err);
/* The copies whose bytes are still there: with one slice only the last is, and
 * a background has gone round its slices. */
void verify_range(
    const struct cuda_flow *flow, uint64_t *out_first, uint64_t *out_count);

#endif
