/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cpu_chase.h"

#include "pattern.h"

#include <inttypes.h>
#include <stdlib.h>

/* A number below `limit`, from the high half of a product: no division. */
static uint32_t below(uint64_t seed, uint64_t index, uint32_t limit)
{
    return (uint32_t)(((pattern_word(seed, index) >> 32) * limit) >> 32);
}

/* The order in which lines are visited, the first one always first. Shuffling
 * a small list and then laying it out touches memory once per line, where a
 * shuffle of the lines themselves would wait for memory all the time. */
static uint32_t *shuffled(uint32_t count, uint64_t seed)
{
    uint32_t *const order = calloc(count, sizeof *order);

    if (order == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        order[i] = i;
    }
    for (uint32_t i = count - 1; i > 1; i--) {
        const uint32_t k = 1 + below(seed, i, i);
        const uint32_t other = order[k];

        order[k] = order[i];
        order[i] = other;
    }
    return order;
}

static void link_line(
    struct chase_line *lines, uint64_t from, uint64_t to, uint64_t rank)
{
    lines[from].next = &lines[to];
    lines[from].rank = rank;
}

static int32_t link_random(
    struct chase *chase, uint64_t seed, struct error *err)
{
    const uint32_t count = (uint32_t)chase->count;
    uint32_t *const order = shuffled(count, seed);

    FAIL_IF(order == NULL, err, NVBW_E_SYSTEM,
        "no memory for the order of %" PRIu32 " lines", count);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t next = i + 1 < count ? i + 1 : 0;

        link_line(chase->lines, order[i], order[next], i);
    }
    free(order);
    return NVBW_OK;
}

static void link_strided(struct chase *chase, uint64_t step)
{
    const uint64_t count = chase->count;

    for (uint64_t i = 0; i < count; i++) {
        const uint64_t next = i + 1 < count ? i + 1 : 0;

        link_line(chase->lines, i * step, next * step, i);
    }
}

static int32_t refuse(uint64_t bytes, uint64_t stride, struct error *err)
{
    error_set(err, NVBW_E_SKIPPED,
        "no chain of loads fits %" PRIu64 " bytes with a stride of %" PRIu64
        ": buffer_size must hold 2 to 2^32 - 1 lines of %zu bytes and the "
        "stride be a multiple of a line",
        bytes, stride, sizeof(struct chase_line));
    if (err != NULL) {
        err->code = NVBW_SKIP_MEMORY;
    }
    return NVBW_E_SKIPPED;
}

int32_t chase_build(void *memory, uint64_t bytes, uint64_t stride,
    uint64_t seed, struct chase *out, struct error *err)
{
    const uint64_t line = sizeof(struct chase_line);
    const uint64_t step = stride == 0 ? 1 : stride / line;
    const uint64_t count = stride % line == 0 ? bytes / line / step : 0;

    if (count < 2 || count > UINT32_MAX) {
        return refuse(bytes, stride, err);
    }
    *out = (struct chase){ .lines = memory, .count = count, .at = memory };
    if (stride == 0) {
        return link_random(out, seed, err);
    }
    link_strided(out, step);
    return NVBW_OK;
}

void chase_walk(struct chase *chase, uint64_t steps)
{
    const struct chase_line *at = chase->at;
    uint64_t left = steps;

    for (; left >= 8; left -= 8) {
        at = at->next->next->next->next->next->next->next->next;
    }
    for (; left > 0; left--) {
        at = at->next;
    }
    chase->at = at;
}
