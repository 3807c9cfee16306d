/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Memory that is freed all at once. Plans, schemas, facts, evidence and
 * verdicts each live in one arena, so none of their parts is ever freed by
 * itself and no part can outlive the whole. One thread per arena. */
#ifndef NVBW_ARENA_H
#define NVBW_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct arena_block;

struct arena {
    struct arena_block *blocks; /* newest first */
    size_t used_bytes;
    size_t limit_bytes;
};

/* An arena that will never hold more than limit_bytes. Cannot fail. */
void arena_init(struct arena *arena, size_t limit_bytes);
/* Frees everything; the arena can be used again. */
void arena_clear(struct arena *arena);
/* What is in `from` lives as long as arena from here on, and `from` is empty.
 * Returns 0, and changes nothing, where that would be past arena's limit. */
int arena_take(struct arena *arena, struct arena *from);

/* Zeroed memory, aligned for any type; NULL past the limit or when the system
 * has none. count * size is checked for overflow. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);
/* A copy of text (NULL gives NULL), or of its first length bytes. */
char *arena_text(struct arena *arena, const char *text);
char *arena_text_n(struct arena *arena, const char *text, size_t length);
char *arena_format(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes room for one more element at the end of a list: returns the list,
 * moved and doubled where it was full, with *count raised, or NULL. The new
 * element is zeroed. Grows a list that this call made, or a NULL one. */
void *arena_append(
    struct arena *arena, void *list, uint32_t *count, size_t size);

#endif
