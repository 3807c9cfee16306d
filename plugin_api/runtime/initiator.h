/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Initiators: who moves the bytes of a flow on a GPU. Each is one file and one
 * const table; adding one means its file and its row in initiators.c. */
#ifndef NVBW_INITIATOR_H
#define NVBW_INITIATOR_H

#include <stdint.h>

#include "status.h"

struct cuda_session;
struct cuda_flow;

/* Begin and end of a copy, as its kernel writes them. 0: not written. */
struct stamp {
    uint64_t start_ns, end_ns;
};

struct initiator {
    const char *name;
    /* Operations that it knows: bit 1 << NVBW_OP_*. */
    uint32_t operations;
    /* 1: each copy is an operation of its own on the stream, so that the pace
     * of a flow can be seen between them. */
    uint32_t one_by_one;
    /* 1: one call of enqueue takes all copies and goes from slice to slice by
     * itself, so each copy has a slice and they are never rotated. */
    uint32_t own_slices;
    /* Once per session, before open and without the driver: what follows from
     * the flow and the facts alone. Between ranks also for flows that others
     * carry out, since what is decided of all follows from it. May be NULL. */
    int32_t (*plan)(
        struct cuda_session *cuda, struct cuda_flow *flow, struct error *err);
    /* Once per session, before the first enqueue: loads kernels, allocates.
     * May be NULL. */
    int32_t (*open)(
        struct cuda_session *cuda, struct cuda_flow *flow, struct error *err);
    /* How many copies a sample has at least and at most, where that does not
     * follow from their bytes; given as it would be else. May be NULL. */
    void (*bounds)(const struct cuda_session *cuda,
        const struct cuda_flow *flow, uint64_t *least, uint64_t *most);
    /* After the buffers are there and before anything is queued: puts into
     * the sources what stands there in all samples, instead of a pattern. Such
     * a flow has one slice, whose destination is poisoned between warm-up and
     * start. Between ranks all of them call it, one flow after another, so it
     * may wait for the others; what is in a flow's state but its plan is there
     * only where the flow is carried out. May be NULL. */
    int32_t (*lay)(
        struct cuda_session *cuda, struct cuda_flow *flow, struct error *err);
    /* Queues `count` copies from number `first` on (COPY_WARM_UP: the one
     * for warm-up) on the flow's stream. Its context is current. Must not
     * block, and adds at most `count` operations to the stream. */
    int32_t (*enqueue)(struct cuda_session *cuda, struct cuda_flow *flow,
        uint64_t first, uint64_t count, struct error *err);
    /* Before each sample, when nothing of it is queued yet: clears what the
     * last one left. May wait. May be NULL. */
    int32_t (*begin)(
        struct cuda_session *cuda, struct cuda_flow *flow, struct error *err);
    /* When the flow's copies of the last sample started and ended by the
     * clock of its GPU, `copies` of each; where it cannot tell *out_count is
     * 0. NULL: it never can. (together.c) */
    int32_t (*stamps)(struct cuda_session *cuda, struct cuda_flow *flow,
        const struct stamp **out_stamps, uint64_t *out_count,
        struct error *err);
    /* What one copy counts in the figure: bytes, or repeats. NULL: the bytes
     * of a copy. */
    double (*amount)(const struct cuda_flow *flow);
    /* The seconds that the figure counts, where they are not those from the
     * flow's start to its end. May be NULL. */
    int32_t (*seconds)(
        const struct cuda_flow *flow, double *out_seconds, struct error *err);
    /* Compares what a sample left behind where the engine's comparison of
     * destinations does not fit: asked for flows without a destination, and
     * for all flows of an initiator with own_slices or lay. */
    int32_t (*verify)(
        struct cuda_session *cuda, struct cuda_flow *flow, struct error *err);
    void (*close)(struct cuda_session *cuda, struct cuda_flow *flow);
};

/* By NVBW_BY_* number; NULL where this build has none. */
extern const struct initiator *const initiators[];
enum { INITIATORS_END = 6 };

/* Of the operation CHASE, likewise (chasers.c). */
extern const struct initiator *const chasers[];

/* Of the operations of STREAM, by SMs only (flow_is_stream). */
extern const struct initiator streamer_sm; /* sm_stream.c */
/* Of single accesses, likewise (flow_is_access). */
extern const struct initiator accesser_sm; /* sm_access.c */

/* Of reads that offer a load, likewise (flow_is_load). */
extern const struct initiator loader_sm; /* sm_load.c */

extern const struct initiator initiator_ce;     /* initiator_ce.c */
extern const struct initiator initiator_plugin; /* initiator_plugin.c */
extern const struct initiator initiator_sm;     /* initiator_sm.c */
extern const struct initiator chaser_sm;        /* sm_chase.c */
extern const struct initiator chaser_tma;       /* sm_chase.c */
extern const struct initiator initiator_tma;    /* initiator_tma.c */

#endif
