/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "sim_extents.h"

#include <stdlib.h>
#include <string.h>

uint64_t extent_value_at(enum extent_kind kind, uint64_t value, uint64_t bytes)
{
    return kind == EXTENT_REAL || kind == EXTENT_WORD
               ? value
               : pattern_key_at(value, bytes / sizeof(uint64_t));
}

static uint64_t end_of(const struct extent *extent)
{
    return extent->at + extent->bytes;
}

/* The first that ends behind this address. */
static uint32_t find(const struct extents *extents, uint64_t at)
{
    uint32_t low = 0;
    uint32_t high = extents->count;

    while (low < high) {
        const uint32_t middle = (low + high) / 2;

        if (end_of(&extents->list[middle]) <= at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct extent extents_look(
    const struct extents *extents, uint64_t at, uint64_t end)
{
    const uint32_t number = find(extents, at);
    struct extent found = { .at = at, .bytes = end - at };

    if (number == extents->count) {
        return found;
    }
    const struct extent *next = &extents->list[number];

    if (next->at > at) {
        found.bytes = next->at < end ? next->at - at : found.bytes;
        return found;
    }
    found.kind = next->kind;
    found.value = extent_value_at(next->kind, next->value, at - next->at);
    found.bytes = end_of(next) < end ? end_of(next) - at : found.bytes;
    return found;
}

/* Room for two more: one split and one new. */
static int make_room(struct extents *extents)
{
    if (extents->count + 2 <= extents->room) {
        return 0;
    }
    const uint32_t room = extents->room == 0 ? 16 : extents->room * 2;

    if (room > EXTENTS_MAX) {
        return -1;
    }
    struct extent *list =
        realloc(extents->list, (size_t)room * sizeof *extents->list);

    if (list == NULL) {
        return -1;
    }
    extents->list = list;
    extents->room = room;
    return 0;
}

static void insert(
    struct extents *extents, uint32_t number, const struct extent *extent)
{
    memmove(&extents->list[number + 1], &extents->list[number],
        (size_t)(extents->count - number) * sizeof *extents->list);
    extents->list[number] = *extent;
    extents->count++;
}

static void take_out(struct extents *extents, uint32_t number)
{
    extents->count--;
    memmove(&extents->list[number], &extents->list[number + 1],
        (size_t)(extents->count - number) * sizeof *extents->list);
}

/* What is left of an extent behind `end`. */
static struct extent rest_of(const struct extent *extent, uint64_t end)
{
    return (struct extent){ .at = end,
        .bytes = end_of(extent) - end,
        .kind = extent->kind,
        .value =
            extent_value_at(extent->kind, extent->value, end - extent->at) };
}

/* Cuts one that reaches into [at, end). 1: it is gone altogether. */
static int cut_one(
    struct extents *extents, uint32_t number, uint64_t at, uint64_t end)
{
    struct extent *extent = &extents->list[number];
    const struct extent before = *extent;

    if (before.at < at) {
        extent->bytes = at - before.at;
        if (end_of(&before) > end) {
            const struct extent rest = rest_of(&before, end);

            insert(extents, number + 1, &rest);
        }
        return 0;
    }
    if (end_of(&before) > end) {
        *extent = rest_of(&before, end);
        return 0;
    }
    take_out(extents, number);
    return 1;
}

int extents_cut(struct extents *extents, uint64_t at, uint64_t end)
{
    if (make_room(extents) != 0) {
        return -1;
    }
    for (uint32_t i = find(extents, at);
         i < extents->count && extents->list[i].at < end;) {
        i += cut_one(extents, i, at, end) ? 0 : 1;
    }
    return 0;
}

static int continues(const struct extent *first, const struct extent *second)
{
    return end_of(first) == second->at && first->kind == second->kind &&
           extent_value_at(first->kind, first->value, first->bytes) ==
               second->value;
}

int extents_put(struct extents *extents, const struct extent *extent)
{
    if (extents_cut(extents, extent->at, end_of(extent)) != 0) {
        return -1;
    }
    uint32_t number = find(extents, extent->at);

    insert(extents, number, extent);
    if (number > 0 &&
        continues(&extents->list[number - 1], &extents->list[number])) {
        extents->list[number - 1].bytes += extents->list[number].bytes;
        take_out(extents, number--);
    }
    if (number + 1 < extents->count &&
        continues(&extents->list[number], &extents->list[number + 1])) {
        extents->list[number].bytes += extents->list[number + 1].bytes;
        take_out(extents, number + 1);
    }
    return 0;
}

void extents_free(struct extents *extents)
{
    free(extents->list);
    *extents = (struct extents){ .count = 0 };
}
