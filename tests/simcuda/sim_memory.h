/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Memory: which addresses are what. Device memory is memory of the process in
 * a window of addresses of its own, so that a kernel in C can use it and an
 * address beyond every allocation is told from one of the host. */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include <stddef.h>
#include <stdint.h>

enum memory_kind {
    MEMORY_DEVICE,     /* cuMemAlloc */
    MEMORY_PINNED,     /* cuMemHostAlloc */
    MEMORY_REGISTERED, /* cuMemHostRegister */
    MEMORY_MANAGED,
    MEMORY_RESERVED, /* addresses without memory */
    MEMORY_MAPPED    /* over RESERVED: an allocation mapped */
};

enum { MEMORY_GPUS = 1024, MEMORY_NEAR = -1 };

struct contents;
struct multicast;

struct memory_range {
    struct memory_range *next;
    enum memory_kind kind;
    uint64_t base, bytes;
    uint32_t gpu;    /* of DEVICE and MAPPED */
    int32_t node;    /* of host memory; MEMORY_NEAR: where the GPU is */
    uint64_t handle; /* MAPPED */
    struct multicast *multicast; /* MAPPED: of an object, and from where in it
                                    on; else NULL */
    uint64_t multicast_at;
    uint64_t *allowed;         /* MAPPED: bit per GPU */
    struct contents *contents; /* of large ones, NULL: always real */
};

struct memory_map {
    struct memory_range *ranges;
    struct memory_range **recent; /* found last, by address; may be NULL */
    uint64_t window, window_bytes;
    uint64_t next;         /* where to look for room first */
    uint64_t sparse_above; /* larger ranges may be described; 0: none */
    void (*guard)(void);   /* called before pages are closed */
};

int memory_open(struct memory_map *map, uint64_t wanted_bytes);
void memory_close(struct memory_map *map);

/* The range that holds all of [address, address + bytes), MAPPED before
 * RESERVED; NULL: none does. */
struct memory_range *memory_find(
    const struct memory_map *map, uint64_t address, uint64_t bytes);
/* The range that begins here and is of this kind. */
struct memory_range *memory_find_base(
    const struct memory_map *map, uint64_t base, enum memory_kind kind);
/* No range known, not in the window, no overlap: pageable host memory. */
int memory_is_pageable(
    const struct memory_map *map, uint64_t address, uint64_t bytes);

/* Takes room in the window. usable: with memory behind it. 0: no room. */
struct memory_range *memory_take(struct memory_map *map, enum memory_kind kind,
    uint64_t bytes, uint32_t gpu);
/* Memory of the host (PINNED, MANAGED), zeroed. */
struct memory_range *memory_take_host(
    struct memory_map *map, enum memory_kind kind, uint64_t bytes);
/* Notes memory that is there already. */
struct memory_range *memory_note(struct memory_map *map, enum memory_kind kind,
    uint64_t base, uint64_t bytes);
/* Forgets a range and gives back what memory_take took. */
void memory_drop(struct memory_map *map, struct memory_range *range);

#endif
