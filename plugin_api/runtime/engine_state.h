/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The inside of the engine, for the files that make it up. */
#ifndef NVBW_ENGINE_STATE_H
#define NVBW_ENGINE_STATE_H

#include "buffer.h"
#include "engine.h"
#include "gpu.h"

/* Words in the host's memory that every GPU can write and the host polls: the
 * release of the gate, what the gates say, and how far background flows are.
 * By position of the flow where there is one per flow. */
enum {
    WORD_RELEASE = 0,
    WORD_START = 16,
    WORD_END = 32,
    WORD_FLOWS = 256, /* flows at once at most */
    WORD_OUTCOME = WORD_FLOWS,
    WORD_RUNNING = 2 * WORD_FLOWS,
    WORD_PROGRESS = 3 * WORD_FLOWS, /* progress and done are copied as one */
    WORD_DONE = 4 * WORD_FLOWS,
    WORDS = 5 * WORD_FLOWS,
    SNAPSHOT_WORDS = 2 * WORD_FLOWS,
    PAGE_SNAPSHOTS = 8 << 10, /* where two snapshots come back to */
    PAGE_RESULTS = 16 << 10,  /* and the results of a comparison */
    PAGE_BYTES = 32 << 10
};

struct engine {
    struct engine_setup setup;
    const struct facts *facts;
    struct cuda_api api;
    uint32_t api_opened, api_started;
    struct gpu *gpus; /* facts->gpus_count of them */
    unsigned char *page;
    volatile uint32_t *words; /* the page's begin */
    cu_address page_address;
    struct buffer_pool *pool;
    uint64_t epoch; /* of data: raised for each filling */
    uint32_t poisoned;
    uint32_t allow_multicast;  /* of the plan of the measurement in progress */
    struct error wake_trouble; /* of engine_wake_gpus, not told yet */
};

/* The GPU at this position of the facts, open. */
int32_t engine_gpu(struct engine *engine, int32_t position, struct gpu **out,
    struct error *err);
/* What failed with this may have left a GPU behind that this process cannot use
 * any more: then it is done with GPUs. */
void engine_note_poison(
    struct engine *engine, int32_t status, const struct error *err);
/* The device address of a word. */
static inline cu_address engine_word(const struct engine *engine, uint32_t word)
{
    return engine->page_address + 4ull * word;
}

#endif
