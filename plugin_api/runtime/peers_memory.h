/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What memory that ranks share is made of: an allocation, or another object of
 * the driver's that has a handle, made by one rank, its handle passed on to
 * all, and mapped by each. */
#ifndef NVBW_PEERS_MEMORY_H
#define NVBW_PEERS_MEMORY_H

#include "gpu.h"
#include "peers.h"

/* One exchange. */
struct exchange {
    struct peers *peers;
    const struct engine *engine;
    const struct gpu *gpu; /* this rank's */
    uint32_t owner;
    struct shared_memory *memory; /* bytes: wanted, then what there is */
    /* The owner's: makes memory->handle, of memory->bytes or more. */
    int32_t (*make)(const struct exchange *exchange, struct error *err);
};

/* CU_HANDLE_*. */
unsigned int shared_handle_type(enum peers_handle handle);
/* Memory of a GPU that can be shared; *bytes is rounded up to what can be
 * mapped. NVBW_E_SKIPPED, memory, where there is too little. */
int32_t shared_create(const struct gpu *gpu, enum peers_handle handle,
    uint64_t *bytes, cu_memory *out, struct error *err);

/* Collective: afterwards every rank has a handle. On failure not every rank
 * knows it yet: peers_check it. The caller closes what is in memory. */
int32_t shared_pass(const struct exchange *exchange, struct error *err);
/* Maps the handle's memory for this rank's GPU. */
int32_t shared_map(
    const struct gpu *gpu, struct shared_memory *memory, struct error *err);
void shared_unmap(const struct gpu *gpu, struct shared_memory *memory);
/* Gives back the descriptor, where there is one; the other also the handle: a
 * mapping keeps its memory. */
void shared_close_descriptor(struct shared_memory *memory);
void shared_close(const struct gpu *gpu, struct shared_memory *memory);

#endif
