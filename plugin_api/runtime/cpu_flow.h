/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A flow that threads carry out: its memory, and which member of the team
 * does what part of it. For backend_cpu.c.
 *
 * A sample of n copies goes through `slices` slices of the buffers, one per
 * copy while the memory for them stays within bounds, so that each copy can
 * be checked by itself. Destinations are poisoned before every sample. */
#ifndef NVBW_CPU_FLOW_H
#define NVBW_CPU_FLOW_H

#include "affinity.h"
#include "cpu_chase.h"
#include "cpu_ops.h"
#include "session.h"

enum { CPU_CHASE_STEPS = 16384 /* loads in one "copy" of a chase */ };

struct cpu_flow {
    struct flow_run *run;
    const struct cpu_op *op; /* NULL: chase */
    struct chase chase;
    uint32_t background;
    uint32_t first, members; /* of the team */
    uint64_t bytes;          /* touched per copy */
    uint64_t step;           /* from slice to slice */
    uint64_t copies, slices; /* of a sample */
    uint64_t room;           /* slices that the buffers hold */
    uint64_t key;            /* of the contents */
    uint64_t sample;         /* number of the sample, for WRITE */
};

/* Takes what the flow asks for apart; NVBW_E_SKIPPED for what CPUs do not do
 * and for an executor without CPUs. Sets no members. */
int32_t cpu_flow_init(struct cpu_flow *flow, struct flow_run *run,
    const struct session *session, struct error *err);

/* Which CPUs the members of the flow at this position run on: the executor's
 * cores, dealt over all flows with the same executor. Sets flow->members and
 * writes that many masks, at most `room`. */
void cpu_flow_deal(struct cpu_flow *flows, uint32_t position,
    const struct session *session, struct cpu_mask *masks, uint32_t room);

/* Buffers for this many copies per sample. Returns 1 where they are new and
 * must be filled, 0 where they were there. */
int32_t cpu_flow_make_room(struct cpu_flow *flow, const struct session *session,
    uint64_t copies, struct error *err);
/* Gives the buffers back. */
void cpu_flow_release(struct cpu_flow *flow, const struct session *session);

/* The part of a slice that a member (counted from 0 in the flow) does. */
struct cpu_share cpu_flow_share(
    const struct cpu_flow *flow, uint32_t member, uint64_t slice);
/* Where that part begins in the slice. */
uint64_t cpu_flow_share_begin(const struct cpu_flow *flow, uint32_t member);
/* Fills the sources and poisons the destination of one share. */
void cpu_flow_fill_share(const struct cpu_flow *flow, struct cpu_share share);

/* Bytes of one copy that figures count, that memory moves, and that lie in
 * all its buffers. */
uint64_t cpu_flow_payload(const struct cpu_flow *flow);
uint64_t cpu_flow_traffic(const struct cpu_flow *flow);
uint64_t cpu_flow_footprint(const struct cpu_flow *flow);

#endif
