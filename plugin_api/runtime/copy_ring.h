/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Copies between pageable memory and a GPU through a small ring of page-locked
 * memory: while a slot crosses the link, this thread fills or empties the next.
 * What a program does that cannot lock all of its memory. The ring is of the
 * flow's `ring` bytes in slots of equal size, on the node of the memory. */
#ifndef NVBW_COPY_RING_H
#define NVBW_COPY_RING_H

#include <stdint.h>

#include "status.h"

struct cuda_session;
struct cuda_flow;

enum { COPY_RING_SLOTS = 4 };

/* Makes the ring, where the flow has one. */
int32_t copy_ring_open(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err);
/* One copy. Towards the GPU it returns when the last slot was queued, towards
 * the host when the last was emptied. Blocks the calling thread. */
int32_t copy_ring_pass(
    const struct cuda_flow *flow, uint64_t number, struct error *err);
void copy_ring_close(struct cuda_session *cuda, struct cuda_flow *flow);

#endif
