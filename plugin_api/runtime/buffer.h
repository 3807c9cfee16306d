/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Buffers: memory of a kind at a place. A kind is one file with one const
 * table of functions; adding one means its file, its row in buffer_kinds and
 * its number in the contract. */
#ifndef NVBW_BUFFER_H
#define NVBW_BUFFER_H

#include "facts.h"
#include "status.h"

struct engine;

struct buffer {
    const struct buffer_kind *kind;
    int32_t place;    /* position in facts->nodes (host kinds) or gpus */
    int32_t executor; /* position in facts->gpus of who uses it, -1: CPU */
    uint64_t bytes;
    void *host;        /* address for the CPU, NULL: none */
    uint64_t device;   /* address for the executor, 0: none */
    uint64_t replica;  /* MULTICAST: where this rank finds what arrived of what
                          was stored at `device`; 0: there */
    int32_t node_seen; /* host kinds: the system's node read back, -1: mixed,
                          -2: unknown */
    uint32_t in_use;
    uint64_t content; /* what its last user left in it, as a number of that
                         user's making; 0: nothing that can be used again */
    void *state;      /* the kind's */
};

/* Where its contents are. */
static inline uint64_t buffer_contents(const struct buffer *buffer)
{
    return buffer->replica != 0 ? buffer->replica : buffer->device;
}

struct buffer_want {
    const struct facts *facts;
    struct engine *engine; /* NULL for CPU-only measurements */
    int32_t place, executor;
    uint64_t bytes;
    uint64_t content; /* wished for; 0: none. Who gets a buffer with another
                         content finds 0 there */
};

struct buffer_kind {
    uint32_t memory;   /* NVBW_MEM_* */
    uint32_t on_host;  /* place is a NUMA node */
    uint32_t gateable; /* copies from it may be queued behind a gate */
    /* NVBW_E_SKIPPED with err->text and a skip reason as err->code where the
     * machine has no such memory. */
    int32_t (*make)(
        const struct buffer_want *want, struct buffer *out, struct error *err);
    void (*destroy)(struct buffer *buffer);
};

/* By NVBW_MEM_* number; NULL: this build has no such kind yet. */
extern const struct buffer_kind *const buffer_kinds[];
enum { BUFFER_KINDS_END = NVBW_MEM_MULTICAST + 1 };

/* Pool: buffers that wait to be used again, of one worker. Reuse only for the
 * same kind and place and at least the bytes (at most twice them). Gives way:
 * what does not fit the limit, or stands in the way of a new buffer, is freed
 * oldest first. */
struct buffer_pool;
int32_t buffer_pool_open(
    uint64_t limit_bytes, struct buffer_pool **out, struct error *err);
void buffer_pool_close(struct buffer_pool *pool);
int32_t buffer_get(struct buffer_pool *pool, uint32_t memory,
    const struct buffer_want *want, struct buffer **out, struct error *err);
void buffer_put(struct buffer_pool *pool, struct buffer *buffer);
/* Frees all that is not in use. */
void buffer_pool_empty(struct buffer_pool *pool);

#endif
