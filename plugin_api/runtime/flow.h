/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Flows: a plugin's flows against the unit and the machine. flow_check
 * (engine.h) comes first; what stands here relies on it. Pure. */
#ifndef NVBW_FLOW_H
#define NVBW_FLOW_H

#include "engine.h"

enum { FLOW_LIMIT = 4096 };

/* How many flows a NULL-terminated list has, at most FLOW_LIMIT + 1. */
uint32_t flow_count(const struct nvbw_flow *const *flows);

/* What a flow becomes on this machine: places as positions in facts->gpus and
 * facts->nodes, NVBW_NEAR as the node nearest to the executor (-1 where that
 * is unknown), bytes as buffer_size where it has memory and gave none. copies
 * is repeats, else params->copies in fixed mode, else 0: the pilot decides.
 * counted is 0; see flow_is_counted. */
void flow_resolve(const struct facts *facts, const struct unit *unit,
    const struct measure_params *params, const struct nvbw_flow *flow,
    struct flow_record *out);

/* What gets a figure. */
struct flow_target {
    const struct nvbw_cell *cell;
    uint32_t number;   /* of the cell in the unit */
    uint32_t unit;     /* NVBW_UNIT_* of its metric */
    uint32_t is_total; /* 1: first start to last end of all flows of its part */
    uint32_t part;
};

/* How many parts a request has, at least 1, and each of them. */
uint32_t flow_parts(const struct measure_request *request);
struct measure_part flow_part(
    const struct measure_request *request, uint32_t part);

/* Part by part the distinct cells of the flows, in order of appearance, and
 * the total last. The list lives in arena. NVBW_E_SYSTEM without memory. */
int32_t flow_targets(const struct measure_request *request, struct arena *arena,
    struct flow_target **out_targets, uint32_t *out_count, struct error *err);

/* Position in targets of a cell, or -1 (also for NULL). */
int32_t flow_target_of(const struct unit *unit,
    const struct flow_target *targets, uint32_t count,
    const struct nvbw_cell *cell);

/* 1 if the target's figure counts the bytes of this flow of its part. */
int flow_is_counted(const struct unit *unit, const struct flow_target *target,
    const struct nvbw_flow *flow);

/* 1 for the operations of STREAM on a GPU, which go over the same arrays again
 * and again. */
int flow_is_stream(const struct flow_record *flow);
/* 1 if the operation has a second source. */
int flow_has_third(const struct flow_record *flow);
/* Arrays that an operation of STREAM goes through. */
uint32_t flow_stream_arrays(const struct flow_record *flow);
/* 1 for copies, reads and writes on a GPU by single accesses, which a stride
 * asks for. */
int flow_is_access(const struct flow_record *flow);
/* Bytes of an access, elements from one to the next (1 for random ones), and
 * how many there are. Random ones take the largest power of two that fits. */
struct flow_accesses {
    uint64_t element, step, count;
    uint32_t random, bits; /* count: 2^bits */
};
struct flow_accesses flow_accesses_of(const struct flow_record *flow);
/* 1 for reads by an SM in the background that offer a part of their own full
 * rate, or all of it: load_permille is given. */
int flow_is_load(const struct flow_record *flow);
/* What a copy of the flow by a GPU counts: its bytes, of operations of STREAM
 * but the copy those of all arrays, of single accesses those accessed. */
uint64_t flow_counted_bytes(const struct flow_record *flow);

/* 1 for memory whose place is a NUMA node. */
int flow_memory_on_host(uint32_t memory);

/* The GPUs (positions in facts->gpus, ascending, each once) that the resolved
 * flows touch. Room for count * 3 in out. Returns how many. */
uint32_t flow_gpus(
    const struct flow_record *flows, uint32_t count, uint32_t *out_gpus);

#endif
