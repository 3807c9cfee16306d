/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 * 1024, FIRST_CAPACITY = 8 };

struct arena_block {
    struct arena_block *next;
    size_t size_bytes, used_bytes;
    _Alignas(max_align_t) unsigned char bytes[];
};

void arena_init(struct arena *arena, size_t limit_bytes)
{
    *arena = (struct arena){ .limit_bytes = limit_bytes };
}

void arena_clear(struct arena *arena)
{
    struct arena_block *block = arena->blocks;

    while (block != NULL) {
        struct arena_block *const next = block->next;

        free(block);
        block = next;
    }
    arena->blocks = NULL;
    arena->used_bytes = 0;
}

int arena_take(struct arena *arena, struct arena *from)
{
    struct arena_block *last = from->blocks;

    if (from->used_bytes > arena->limit_bytes - arena->used_bytes) {
        return 0;
    }
    if (last == NULL) {
        return 1;
    }
    while (last->next != NULL) {
        last = last->next;
    }
    if (arena->blocks == NULL) {
        arena->blocks = from->blocks;
    } else {
        /* The first block is the one that is being filled. */
        last->next = arena->blocks->next;
        arena->blocks->next = from->blocks;
    }
    arena->used_bytes += from->used_bytes;
    from->blocks = NULL;
    from->used_bytes = 0;
    return 1;
}

/* A block of its own for what is large, so that little room is wasted. */
static struct arena_block *add_block(struct arena *arena, size_t need_bytes)
{
    const size_t size_bytes =
        need_bytes > BLOCK_BYTES / 4 ? need_bytes : BLOCK_BYTES;
    struct arena_block *const block = calloc(1, sizeof *block + size_bytes);

    if (block == NULL) {
        return NULL;
    }
    block->size_bytes = size_bytes;
    if (size_bytes == need_bytes && arena->blocks != NULL) {
        block->next = arena->blocks->next;
        arena->blocks->next = block;
    } else {
        block->next = arena->blocks;
        arena->blocks = block;
    }
    return block;
}

void *arena_alloc(struct arena *arena, size_t count, size_t size)
{
    size_t bytes = 0;
    const size_t align = _Alignof(max_align_t);

    if (__builtin_mul_overflow(count, size, &bytes) ||
        __builtin_add_overflow(bytes, align - 1, &bytes)) {
        return NULL;
    }
    bytes &= ~(align - 1);
    if (bytes > arena->limit_bytes - arena->used_bytes) {
        return NULL;
    }

    struct arena_block *block = arena->blocks;

    if (block == NULL || bytes > block->size_bytes - block->used_bytes) {
        block = add_block(arena, bytes);
        if (block == NULL) {
            return NULL;
        }
    }

    void *const memory = block->bytes + block->used_bytes;

    block->used_bytes += bytes;
    arena->used_bytes += bytes;
    return memory;
}

char *arena_text_n(struct arena *arena, const char *text, size_t length)
{
    char *const copy = arena_alloc(arena, length + 1, 1);

    if (copy != NULL) {
        memcpy(copy, text, length);
    }
    return copy;
}

char *arena_text(struct arena *arena, const char *text)
{
    return text == NULL ? NULL : arena_text_n(arena, text, strlen(text));
}

char *arena_format(struct arena *arena, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0) {
        return NULL;
    }

    char *const text = arena_alloc(arena, (size_t)length + 1, 1);

    if (text != NULL) {
        va_start(args, format);
        vsnprintf(text, (size_t)length + 1, format, args);
        va_end(args);
    }
    return text;
}

/* Capacities are 8, 16, 32, ...: a list is full when its count is one. */
static int is_full(uint32_t count)
{
    return count >= FIRST_CAPACITY && (count & (count - 1)) == 0;
}

void *arena_append(
    struct arena *arena, void *list, uint32_t *count, size_t size)
{
    if (list == NULL) {
        list = arena_alloc(arena, FIRST_CAPACITY, size);
    } else if (is_full(*count)) {
        void *const larger = arena_alloc(arena, (size_t)*count * 2, size);

        if (larger != NULL) {
            memcpy(larger, list, *count * size);
        }
        list = larger;
    }
    if (list != NULL) {
        *count += 1;
    }
    return list;
}
