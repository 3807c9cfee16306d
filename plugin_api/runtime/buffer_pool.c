/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include <stdlib.h>

#include "buffer.h"

/* One buffer of the pool; oldest last. */
struct pooled {
    struct buffer buffer; /* first, so that a buffer is its pooled */
    struct pooled *next;
};

struct buffer_pool {
    struct pooled *list;
    uint64_t limit_bytes;
};

int32_t buffer_pool_open(
    uint64_t limit_bytes, struct buffer_pool **out, struct error *err)
{
    struct buffer_pool *const pool = calloc(1, sizeof *pool);

    FAIL_IF(pool == NULL, err, NVBW_E_SYSTEM, "no memory for a buffer pool");
    pool->limit_bytes = limit_bytes;
    *out = pool;
    return NVBW_OK;
}

static void drop(struct pooled **at)
{
    struct pooled *const gone = *at;

    *at = gone->next;
    gone->buffer.kind->destroy(&gone->buffer);
    free(gone);
}

void buffer_pool_empty(struct buffer_pool *pool)
{
    for (struct pooled **at = &pool->list; *at != NULL;) {
        if ((*at)->buffer.in_use) {
            at = &(*at)->next;
        } else {
            drop(at);
        }
    }
}

void buffer_pool_close(struct buffer_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    while (pool->list != NULL) {
        drop(&pool->list);
    }
    free(pool);
}

static int fits(const struct buffer *buffer, const struct buffer_kind *kind,
    const struct buffer_want *want)
{
    return !buffer->in_use && buffer->kind == kind &&
           buffer->place == want->place && buffer->bytes >= want->bytes &&
           buffer->bytes / 2 <= want->bytes;
}

/* What has the wished content is best, then what has none to lose, then the
 * smallest. */
static int is_better(const struct buffer *one, const struct buffer *other,
    const struct buffer_want *want)
{
    const int has = want->content != 0 && one->content == want->content;
    const int other_has = want->content != 0 && other->content == want->content;

    if (has != other_has) {
        return has;
    }
    if ((one->content == 0) != (other->content == 0)) {
        return one->content == 0;
    }
    return one->bytes < other->bytes;
}

static struct pooled *find(struct buffer_pool *pool,
    const struct buffer_kind *kind, const struct buffer_want *want)
{
    struct pooled *best = NULL;

    for (struct pooled *one = pool->list; one != NULL; one = one->next) {
        if (fits(&one->buffer, kind, want) &&
            (best == NULL || is_better(&one->buffer, &best->buffer, want))) {
            best = one;
        }
    }
    return best;
}

/* Pinning takes longer than copying, so large buffers on hosts are made in
 * steps: the next flow, which needs a little more, finds room in them. */
static uint64_t bytes_to_make(
    const struct buffer_kind *kind, const struct buffer_want *want)
{
    const uint64_t step = UINT64_C(256) << 20;

    return kind->on_host && want->bytes > 2 * step &&
                   want->bytes <= UINT64_MAX - step
               ? (want->bytes + step - 1) / step * step
               : want->bytes;
}

/* What waits for reuse may itself be what is missing. */
static int32_t make(struct buffer_pool *pool, const struct buffer_kind *kind,
    const struct buffer_want *want, struct buffer *out, struct error *err)
{
    struct error first = { 0 };
    struct buffer_want larger = *want;

    larger.bytes = bytes_to_make(kind, want);
    if (larger.bytes > want->bytes && kind->make(&larger, out, NULL) >= 0) {
        return NVBW_OK;
    }

    const int32_t status = kind->make(want, out, &first);

    if (status >= 0) {
        return status;
    }
    if (status == NVBW_E_SKIPPED && first.code == NVBW_SKIP_MEMORY) {
        buffer_pool_empty(pool);
        return kind->make(want, out, err);
    }
    if (err != NULL) {
        *err = first;
    }
    return status;
}

static int32_t no_such_kind(uint32_t memory, struct error *err)
{
    error_set(
        err, NVBW_E_SKIPPED, "this build has no memory of kind %u", memory);
    if (err != NULL) {
        err->code = NVBW_SKIP_NOT_BUILT;
    }
    return NVBW_E_SKIPPED;
}

int32_t buffer_get(struct buffer_pool *pool, uint32_t memory,
    const struct buffer_want *want, struct buffer **out, struct error *err)
{
    const struct buffer_kind *const kind =
        memory < BUFFER_KINDS_END ? buffer_kinds[memory] : NULL;

    if (kind == NULL) {
        return no_such_kind(memory, err);
    }

    struct pooled *one = find(pool, kind, want);

    if (one == NULL) {
        one = calloc(1, sizeof *one);
        FAIL_IF(one == NULL, err, NVBW_E_SYSTEM, "no memory for a buffer");

        const int32_t status = make(pool, kind, want, &one->buffer, err);

        if (status < 0) {
            free(one);
            return status;
        }
        one->next = pool->list;
        pool->list = one;
    }
    if (one->buffer.content != want->content) {
        one->buffer.content = 0;
    }
    one->buffer.in_use = 1;
    one->buffer.executor = want->executor;
    *out = &one->buffer;
    return NVBW_OK;
}

static uint64_t idle_host_bytes(const struct buffer_pool *pool)
{
    uint64_t bytes = 0;

    for (const struct pooled *one = pool->list; one != NULL; one = one->next) {
        if (!one->buffer.in_use && one->buffer.kind->on_host) {
            bytes += one->buffer.bytes;
        }
    }
    return bytes;
}

static struct pooled **oldest_idle(struct buffer_pool *pool)
{
    struct pooled **oldest = NULL;

    for (struct pooled **at = &pool->list; *at != NULL; at = &(*at)->next) {
        if (!(*at)->buffer.in_use && (*at)->buffer.kind->on_host) {
            oldest = at;
        }
    }
    return oldest;
}

/* To the front: the youngest of those that wait. */
static void move_to_front(struct buffer_pool *pool, struct pooled *one)
{
    struct pooled **at = &pool->list;

    while (*at != NULL && *at != one) {
        at = &(*at)->next;
    }
    if (*at != NULL) {
        *at = one->next;
        one->next = pool->list;
        pool->list = one;
    }
}

void buffer_put(struct buffer_pool *pool, struct buffer *buffer)
{
    if (buffer == NULL) {
        return;
    }
    buffer->in_use = 0;
    move_to_front(pool, (struct pooled *)buffer);
    while (idle_host_bytes(pool) > pool->limit_bytes) {
        drop(oldest_idle(pool));
    }
}
