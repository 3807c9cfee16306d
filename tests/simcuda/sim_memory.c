/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "sim_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim_contents.h"

#define WINDOW_STEP  (UINT64_C(2) << 20) /* allocations begin at 2 MiB */
#define WINDOW_LEAST (UINT64_C(1) << 30)
#define WINDOW_MOST  (UINT64_C(16) << 40)

enum { RECENT = 256 };

static void *address_of(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static void forget_recent(struct memory_map *map)
{
    if (map->recent != NULL) {
        memset(map->recent, 0, RECENT * sizeof *map->recent);
    }
}

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + WINDOW_STEP - 1) / WINDOW_STEP * WINDOW_STEP;
}

int memory_open(struct memory_map *map, uint64_t wanted_bytes)
{
    uint64_t bytes = wanted_bytes < WINDOW_MOST ? wanted_bytes : WINDOW_MOST;

    /* Where addresses are limited, a smaller window still serves. */
    for (; bytes >= WINDOW_LEAST; bytes /= 2) {
        void *at = mmap(NULL, bytes + WINDOW_STEP, PROT_NONE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (at != MAP_FAILED) {
            map->window = round_up((uint64_t)(uintptr_t)at);
            map->window_bytes = bytes;
            map->next = map->window;
            map->recent = calloc(RECENT, sizeof *map->recent);
            return 0;
        }
    }
    return -1;
}

void memory_close(struct memory_map *map)
{
    while (map->ranges != NULL) {
        memory_drop(map, map->ranges);
    }
    if (map->window_bytes != 0) {
        munmap(address_of(map->window), map->window_bytes);
    }
    free(map->recent);
    *map = (struct memory_map){ .window = 0 };
}

static int holds(
    const struct memory_range *range, uint64_t address, uint64_t bytes)
{
    return address >= range->base && address - range->base <= range->bytes &&
           bytes <= range->bytes - (address - range->base);
}

static int overlaps(
    const struct memory_range *range, uint64_t address, uint64_t bytes)
{
    return address < range->base + range->bytes &&
           range->base < address + bytes;
}

static struct memory_range *search(
    const struct memory_map *map, uint64_t address, uint64_t bytes)
{
    struct memory_range *found = NULL;

    for (struct memory_range *range = map->ranges; range != NULL;
         range = range->next) {
        if (!holds(range, address, bytes)) {
            continue;
        }
        found = range;
        if (range->kind != MEMORY_RESERVED) {
            break;
        }
    }
    return found;
}

/* Each operation of a team of 71 flows looks its buffers up. */
struct memory_range *memory_find(
    const struct memory_map *map, uint64_t address, uint64_t bytes)
{
    struct memory_range **const recent =
        map->recent == NULL ? NULL
                            : &map->recent[address / WINDOW_STEP % RECENT];

    if (recent != NULL && *recent != NULL && holds(*recent, address, bytes)) {
        return *recent;
    }

    struct memory_range *const found = search(map, address, bytes);

    if (recent != NULL && found != NULL && found->kind != MEMORY_RESERVED) {
        *recent = found;
    }
    return found;
}

struct memory_range *memory_find_base(
    const struct memory_map *map, uint64_t base, enum memory_kind kind)
{
    for (struct memory_range *range = map->ranges; range != NULL;
         range = range->next) {
        if (range->base == base && range->kind == kind) {
            return range;
        }
    }
    return NULL;
}

int memory_is_pageable(
    const struct memory_map *map, uint64_t address, uint64_t bytes)
{
    const uint64_t end = map->window + map->window_bytes;

    if (address < WINDOW_STEP || address + bytes < address ||
        (address < end && map->window < address + bytes)) {
        return 0;
    }
    for (const struct memory_range *range = map->ranges; range != NULL;
         range = range->next) {
        if (overlaps(range, address, bytes)) {
            return 0;
        }
    }
    return 1;
}

/* Whether these pages are the process's own, so that closing them hides
 * nothing from others. */
static int is_private(uint64_t base, uint64_t bytes)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    int private = 0;

    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        uint64_t start = 0;
        uint64_t end = 0;
        char rights[5] = "";

        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &start, &end, rights) ==
                3 &&
            start <= base && base < end) {
            private = base + bytes <= end && rights[0] == 'r' &&
                      rights[1] == 'w' && rights[3] == 'p';
            break;
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return private;
}

static struct contents *open_contents(
    const struct memory_map *map, const struct memory_range *range)
{
    if (map->sparse_above == 0 || range->bytes <= map->sparse_above) {
        return NULL;
    }
    switch (range->kind) {
    case MEMORY_DEVICE:
    case MEMORY_PINNED:
        return contents_open(range->base, range->bytes, 1);
    case MEMORY_REGISTERED:
        return is_private(range->base, range->bytes)
                   ? contents_open(range->base, range->bytes, 0)
                   : NULL;
    case MEMORY_MANAGED:  /* the CPU works on it */
    case MEMORY_RESERVED: /* nothing there */
    case MEMORY_MAPPED:   /* others may see its pages */
        break;
    }
    return NULL;
}

struct memory_range *memory_note(struct memory_map *map, enum memory_kind kind,
    uint64_t base, uint64_t bytes)
{
    struct memory_range *range = calloc(1, sizeof *range);

    if (range == NULL) {
        return NULL;
    }
    range->kind = kind;
    range->base = base;
    range->bytes = bytes;
    range->node = MEMORY_NEAR;
    range->contents = open_contents(map, range);
    range->next = map->ranges;
    map->ranges = range;
    forget_recent(map);
    return range;
}

/* The end of what stands in the way of bytes at this address, or 0. */
static uint64_t obstacle(
    const struct memory_map *map, uint64_t address, uint64_t bytes)
{
    for (const struct memory_range *range = map->ranges; range != NULL;
         range = range->next) {
        if (overlaps(range, address, bytes)) {
            return range->base + range->bytes;
        }
    }
    return 0;
}

static uint64_t find_room_from(
    const struct memory_map *map, uint64_t from, uint64_t bytes)
{
    const uint64_t end = map->window + map->window_bytes;

    for (uint64_t at = from; at <= end && bytes <= end - at;) {
        const uint64_t next = obstacle(map, at, bytes);

        if (next == 0) {
            return at;
        }
        at = round_up(next);
    }
    return 0;
}

static void describe_as_zeros(
    const struct memory_map *map, const struct memory_range *range)
{
    if (range->contents != NULL) {
        contents_repeat(map, range->base, range->bytes, 0);
    }
}

struct memory_range *memory_take(
    struct memory_map *map, enum memory_kind kind, uint64_t bytes, uint32_t gpu)
{
    /* One step more stays free behind each: an overrun is noticed. */
    const uint64_t room = round_up(bytes) + WINDOW_STEP;
    uint64_t base = find_room_from(map, map->next, room);

    if (base == 0) {
        base = find_room_from(map, map->window, room);
    }
    if (base == 0 ||
        (kind != MEMORY_RESERVED && mprotect(address_of(base), round_up(bytes),
                                        PROT_READ | PROT_WRITE) != 0)) {
        return NULL;
    }
    struct memory_range *range = memory_note(map, kind, base, bytes);

    if (range != NULL) {
        describe_as_zeros(map, range);
        range->gpu = gpu;
        map->next = base + room;
    }
    return range;
}

struct memory_range *memory_take_host(
    struct memory_map *map, enum memory_kind kind, uint64_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (at == MAP_FAILED) {
        return NULL;
    }
    struct memory_range *range =
        memory_note(map, kind, (uint64_t)(uintptr_t)at, bytes);

    if (range == NULL) {
        munmap(at, bytes);
        return NULL;
    }
    describe_as_zeros(map, range);
    return range;
}

static void give_back(const struct memory_range *range)
{
    switch (range->kind) {
    case MEMORY_DEVICE:
    case MEMORY_MAPPED:
        /* Back to addresses without memory. */
        mmap(address_of(range->base), round_up(range->bytes), PROT_NONE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        break;
    case MEMORY_PINNED:
    case MEMORY_MANAGED:
        munmap(address_of(range->base), range->bytes);
        break;
    case MEMORY_REGISTERED:
    case MEMORY_RESERVED:
        break;
    }
}

void memory_drop(struct memory_map *map, struct memory_range *range)
{
    if (range->kind == MEMORY_REGISTERED) { /* it goes on without us */
        contents_touch(map, range->base, range->bytes);
    }
    for (struct memory_range **at = &map->ranges; *at != NULL;
         at = &(*at)->next) {
        if (*at == range) {
            *at = range->next;
            break;
        }
    }
    forget_recent(map);
    give_back(range);
    contents_close(range->contents);
    free(range->allowed);
    free(range);
}
