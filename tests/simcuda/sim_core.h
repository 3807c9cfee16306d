/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The event engine: streams of operations in virtual time. It knows nothing
 * of CUDA. Not thread-safe: the caller holds one lock around everything.
 *
 * A lane is what the hardware has as a connection: operations of all streams
 * on it are started in the order in which they were given, so that one that
 * must wait for its stream holds up the other streams of its lane. */
#ifndef SIM_CORE_H
#define SIM_CORE_H

#include "sim_resources.h"

struct sim_core;
struct sim_stream;
struct sim_op;

/* Instant: done as soon as it starts. Transfer: takes fixed_ns, then
 * work_bytes at a shared rate. Watch: lasts until `over` says so, or until
 * limit_ns after its start. */
enum sim_op_kind { SIM_OP_INSTANT, SIM_OP_TRANSFER, SIM_OP_WATCH };

struct sim_op {
    enum sim_op_kind kind;
    double fixed_ns;
    double work_bytes;
    struct transfer_load load;
    int32_t slot;    /* engine that it occupies, -1: none */
    double limit_ns; /* WATCH: 0 means for ever */
    int (*over)(struct sim_op *op);
    /* What is known only when it starts; may be NULL. */
    void (*begin)(struct sim_op *op);
    /* Carries the operation out. Called once, at its end. */
    void (*finish)(struct sim_op *op);
    void (*drop)(struct sim_op *op); /* frees what it owns, may be NULL */
    /* The owner's. */
    void *subject, *machine;
    uint64_t words[16];
    /* The engine's own. */
    struct sim_stream *stream;
    struct sim_op *next, *next_in_lane;
    uint64_t order, ready_order;
    double started_ns;
    uint32_t started, timed_out;
};

enum { SIM_STREAM_BLOCKING = 1, SIM_STREAM_LEGACY = 2 };

struct sim_core *core_open(
    uint32_t resources_count, uint32_t slots_count, double quantum_ns);
void core_close(struct sim_core *core);
void core_set_capacity(struct sim_core *core, uint32_t resource, double rate);
/* What part of a resource the transfers in progress would use if each had all
 * that it can take; 0 where there is no limit. */
double core_demand(const struct sim_core *core, uint32_t resource);
/* How many operations a slot takes at once; 0: any number. */
void core_set_slot(struct sim_core *core, uint32_t slot, uint32_t count);
double core_now(const struct sim_core *core);
uint64_t core_ops_finished(const struct sim_core *core);

/* group: streams of one group observe the group's legacy stream. lane: any
 * number; equal ones share a connection. */
struct sim_stream *core_stream_open(
    struct sim_core *core, uint32_t group, uint32_t lane, uint32_t flags);
/* Drops what is still in it. */
void core_stream_close(struct sim_core *core, struct sim_stream *stream);
/* Nothing in it ever ends again. */
void core_stream_hang(struct sim_stream *stream);

/* A zeroed operation, or NULL. */
struct sim_op *core_op_new(void);
/* Takes the operation over. */
void core_enqueue(
    struct sim_core *core, struct sim_stream *stream, struct sim_op *op);

int core_stream_idle(const struct sim_stream *stream);
/* No stream has anything to do. */
int core_idle(const struct sim_core *core);
int core_group_idle(const struct sim_core *core, uint32_t group);
/* Operations that wait or run in the stream's lane. */
uint32_t core_lane_depth(
    const struct sim_core *core, const struct sim_stream *stream);

/* Starts and ends whatever can be at the present moment. */
void core_settle(struct sim_core *core);
/* Goes to the next moment at which something ends; where only watches are
 * in progress, one quantum on. 0: nothing is in progress, time stands still. */
int core_step(struct sim_core *core);
void core_pass(struct sim_core *core, double ns);

#endif
