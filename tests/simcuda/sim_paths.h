/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Paths: where an address is, and which resources a transfer between two
 * places crosses. */
#ifndef SIM_PATHS_H
#define SIM_PATHS_H

#include "sim_machine.h"

enum place_kind { PLACE_DEVICE, PLACE_PINNED, PLACE_PAGEABLE, PLACE_MANAGED };

struct place {
    enum place_kind kind;
    uint32_t gpu;
    int32_t node;   /* of host memory; MEMORY_NEAR */
    int accessible; /* by the executing GPU */
    int strict;     /* not even a staged copy where it is not */
};

/* Where the bytes are, as the executing GPU sees them. 0: nowhere, or in no
 * one place. */
int place_find(struct sim_machine *machine, uint32_t executor, uint64_t address,
    uint64_t bytes, struct place *out);

/* The multicast object that the executing GPU stores to there, and where in it;
 * NULL: none. */
struct multicast *place_multicast(struct sim_machine *machine,
    uint32_t executor, uint64_t address, uint64_t bytes, uint64_t *out_at);

enum path_initiator { BY_ENGINE, BY_KERNEL };

/* Fills in what a copy of this many bytes takes. */
void path_copy(struct sim_machine *machine, uint32_t executor,
    const struct place *dst, const struct place *src, uint64_t bytes,
    enum path_initiator initiator, struct sim_op *op);
/* The same for a kernel that only reads or only writes. */
void path_read(struct sim_machine *machine, uint32_t executor,
    const struct place *src, uint64_t bytes, struct sim_op *op);
void path_write(struct sim_machine *machine, uint32_t executor,
    const struct place *dst, uint64_t bytes, struct sim_op *op);
/* The same for a kernel that copies half of the bytes each way. */
void path_split(struct sim_machine *machine, uint32_t executor,
    const struct place *dst, const struct place *src, uint64_t bytes,
    struct sim_op *op);
/* The same for a kernel that goes through arrays of its own GPU's memory, of
 * `footprint` bytes together, and moves `bytes` in all, read and written: at
 * the rate of copies or reads by kernels, or at the cache's where it holds
 * them all. */
void path_arrays(struct sim_machine *machine, uint32_t executor,
    uint64_t footprint, uint64_t bytes, int only_reads, struct sim_op *op);
/* The memory of one allocation that this address belongs to. */
int place_extent(struct sim_machine *machine, uint64_t address,
    uint64_t *out_base, uint64_t *out_bytes);
int path_blocks(const struct place *dst, const struct place *src);

#endif
