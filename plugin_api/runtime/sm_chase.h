/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Latency as GPUs see it: flows of the operation CHASE, by loads of an SM or
 * by bulk copies. One copy of a flow is one launch, on one SM.
 *
 * In order of addresses (stride) each launch takes so many steps from the
 * head, and SMs are dealt over the samples. Over a random cycle each walk goes
 * on where the last one ended; a sample is a stretch on each of some SMs and
 * then three times that stretch on each, and counts the difference, so that
 * what a launch costs drops out. */
#ifndef NVBW_SM_CHASE_H
#define NVBW_SM_CHASE_H

#include "chain.h"
#include "cuda_session.h"

enum {
    CHASE_RESULTS = 256,    /* launches of a sample; the last one is spare */
    CHASE_SEGMENTS = 4096,  /* of a lap by all threads at once */
    CHASE_UNITS_MOST = 1024 /* SMs */
};
#define CHASE_LIMIT_NS UINT64_C(60000000000)

/* Where the flow's memory on the executor holds what. */
enum {
    CHASE_ROOM_RESULTS = 0,
    CHASE_ROOM_STARTS = CHASE_RESULTS * (int)sizeof(struct chase_result),
    CHASE_ROOM_ENDS = CHASE_ROOM_STARTS + CHASE_SEGMENTS * 8,
    CHASE_ROOM_BYTES = CHASE_ROOM_ENDS + CHASE_SEGMENTS * 8
};

/* A launch: from which node, how many steps. */
struct chase_walk {
    uint64_t rank, steps;
};

/* What launches on one SM took, by the clock of its GPU. */
struct chase_unit {
    double ns, steps;
};

struct chase_flow {
    uint32_t kernel; /* CHASE_KERNEL_* */
    uint32_t units;  /* SMs of the executor */
    struct chain chain;
    uint64_t steps; /* of one launch, random: of a stretch */
    uint64_t rank;  /* where the next walk begins */
    uint64_t first; /* turn of this sample's first launch */
    uint64_t next;  /* and of the next one's */
    uint64_t deal;  /* blocks, and so SMs, from one turn to the next */
    cu_address room;
    struct chase_walk walks[CHASE_RESULTS]; /* of this sample */
    struct chase_result results[CHASE_RESULTS];
    struct chase_unit seen[CHASE_UNITS_MOST]; /* by %smid */
    uint64_t turns;                           /* of SMs, verified */
};

static inline int chase_is_random(const struct cuda_flow *flow)
{
    const struct chase_flow *const chase = flow->state;

    return chase->chain.random != 0;
}

/* Lays the chain where it is not there yet, and proves it by a lap of all its
 * nodes; the cache that answers a random one is emptied in between. Between
 * ranks all of them come here, of whom one follows the chain and one has the
 * memory. (chase_lay.c) */
int32_t chase_lay(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err);

/* Compares where walks ended with where they should, and notes what SMs took,
 * and how many had no turn. (chase_check.c) */
int32_t chase_verify(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err);

#endif
