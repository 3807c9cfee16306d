/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "sim_contents.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "numbers.h"

enum { PAGE = 4096, WORD = sizeof(uint64_t) };

struct contents {
    uint64_t base, end;
    struct extents extents;
    int own;
};

static void *address_of(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static uint64_t page_up(uint64_t at)
{
    return (at + PAGE - 1) / PAGE * PAGE;
}

static uint64_t page_down(uint64_t at)
{
    return at / PAGE * PAGE;
}

struct contents *contents_open(uint64_t base, uint64_t bytes, int own)
{
    struct contents *contents = calloc(1, sizeof *contents);

    if (contents != NULL) {
        contents->base = page_up(base);
        contents->end = page_down(base + bytes);
        contents->own = own;
    }
    return contents;
}

void contents_close(struct contents *contents)
{
    if (contents != NULL) {
        extents_free(&contents->extents);
        free(contents);
    }
}

uint64_t contents_described(const struct contents *contents)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; contents != NULL && i < contents->extents.count; i++) {
        bytes += contents->extents.list[i].bytes;
    }
    return bytes;
}

static struct contents *find(
    const struct memory_map *map, uint64_t at, uint64_t bytes)
{
    const struct memory_range *range = memory_find(map, at, bytes);

    return range == NULL ? NULL : range->contents;
}

/* ---- Words from descriptions --------------------------------------------- */

static uint64_t word_of(const struct extent *extent, uint64_t index)
{
    switch (extent->kind) {
    case EXTENT_WORD:
        return extent->value;
    case EXTENT_PATTERN:
        return pattern_word(extent->value, index);
    default:
        return number_word(
            (uint64_t)(extent->kind - EXTENT_NUMBERS), extent->value, index);
    }
}

/* Writes what an extent describes to real memory. */
static void make_bytes(uint64_t to, const struct extent *extent)
{
    uint8_t *const memory = address_of(to);

    if (extent->kind == EXTENT_PATTERN) {
        pattern_fill(memory, extent->bytes, extent->value);
        return;
    }
    const uint64_t whole = extent->bytes - extent->bytes % WORD;

    for (uint64_t at = 0; at < whole; at += WORD) {
        const uint64_t word = word_of(extent, at / WORD);

        memcpy(memory + at, &word, WORD);
    }
    const uint64_t last = word_of(extent, whole / WORD);

    memcpy(memory + whole, &last, extent->bytes - whole);
}

/* ---- Pages become real --------------------------------------------------- */

static int open_pages(uint64_t at, uint64_t bytes)
{
    return mprotect(address_of(at), bytes, PROT_READ | PROT_WRITE);
}

/* A buffer in more pieces than the list holds is real as a whole. */
static void give_up(struct contents *contents)
{
    for (uint32_t i = 0; i < contents->extents.count; i++) {
        const struct extent *extent = &contents->extents.list[i];

        if (open_pages(extent->at, extent->bytes) == 0) {
            make_bytes(extent->at, extent);
        }
    }
    contents->extents.count = 0;
}

/* Makes the described pages of [at, end) real, with their bytes or without.
 * Pages that cannot be opened stay described, and whoever touches them ends by
 * a signal. */
static int make_real(
    struct contents *contents, uint64_t at, uint64_t end, int with_bytes)
{
    int some = 0;

    for (uint64_t next = at; next < end;) {
        const struct extent extent =
            extents_look(&contents->extents, next, end);

        if (extent.kind != EXTENT_REAL) {
            some = 1;
            if (open_pages(extent.at, extent.bytes) != 0) {
                return some;
            }
            if (with_bytes) {
                make_bytes(extent.at, &extent);
            }
        }
        next += extent.bytes;
    }
    if (some && extents_cut(&contents->extents, at, end) != 0) {
        give_up(contents);
    }
    return some;
}

/* The part of [at, end) that whole pages of the contents make up. */
static int whole_pages(const struct contents *contents, uint64_t at,
    uint64_t end, uint64_t *out_at, uint64_t *out_end)
{
    *out_at = page_up(at) > contents->base ? page_up(at) : contents->base;
    *out_end = page_down(end) < contents->end ? page_down(end) : contents->end;
    return *out_at < *out_end;
}

int contents_touch(const struct memory_map *map, uint64_t at, uint64_t bytes)
{
    struct contents *contents = find(map, at, bytes);
    uint64_t first;
    uint64_t end;

    return contents != NULL && bytes > 0 &&
           whole_pages(
               contents, page_down(at), page_up(at + bytes), &first, &end) &&
           make_real(contents, first, end, 1);
}

/* ---- Writing ------------------------------------------------------------- */

static int is_described(
    const struct contents *contents, uint64_t at, uint64_t end)
{
    while (at < end) {
        const struct extent extent = extents_look(&contents->extents, at, end);

        if (extent.kind == EXTENT_REAL) {
            return 0;
        }
        at += extent.bytes;
    }
    return 1;
}

/* Notes what whole pages hold, and closes them. 0: they stay real. */
static int describe(const struct memory_map *map, struct contents *contents,
    const struct extent *extent)
{
    const int closed =
        is_described(contents, extent->at, extent->at + extent->bytes);

    if (!closed) {
        map->guard();
        if (mprotect(address_of(extent->at), extent->bytes, PROT_NONE) != 0) {
            return 0;
        }
    }
    if (extents_put(&contents->extents, extent) != 0) {
        give_up(contents);
        open_pages(extent->at, extent->bytes);
        return 0;
    }
    if (!closed && contents->own) {
        madvise(address_of(extent->at), extent->bytes, MADV_DONTNEED);
    }
    return 1;
}

static struct extent part_of(
    const struct extent *extent, uint64_t at, uint64_t end)
{
    return (struct extent){ .at = at,
        .bytes = end - at,
        .kind = extent->kind,
        .value =
            extent_value_at(extent->kind, extent->value, at - extent->at) };
}

static void write_real(
    const struct memory_map *map, const struct extent *extent)
{
    if (extent->bytes > 0) {
        contents_touch(map, extent->at, extent->bytes);
        make_bytes(extent->at, extent);
    }
}

/* Whole pages are described, what is left on either side is written. */
void contents_write(const struct memory_map *map, const struct extent *extent)
{
    struct contents *contents = find(map, extent->at, extent->bytes);
    const uint64_t end = extent->at + extent->bytes;
    uint64_t first;
    uint64_t last;

    if (contents == NULL || extent->at % WORD != 0 ||
        !whole_pages(contents, extent->at, end, &first, &last)) {
        write_real(map, extent);
        return;
    }
    const struct extent head = part_of(extent, extent->at, first);
    const struct extent body = part_of(extent, first, last);
    const struct extent tail = part_of(extent, last, end);

    write_real(map, &head);
    write_real(map, &tail);
    if (!describe(map, contents, &body)) {
        write_real(map, &body);
    }
}

void contents_fill(
    const struct memory_map *map, uint64_t at, uint64_t bytes, uint64_t key)
{
    const struct extent extent = {
        .at = at, .bytes = bytes, .kind = EXTENT_PATTERN, .value = key
    };

    contents_write(map, &extent);
}

void contents_repeat(
    const struct memory_map *map, uint64_t at, uint64_t bytes, uint64_t word)
{
    const struct extent extent = {
        .at = at, .bytes = bytes, .kind = EXTENT_WORD, .value = word
    };

    contents_write(map, &extent);
}

/* ---- Reading ------------------------------------------------------------- */

struct extent contents_look(
    const struct memory_map *map, uint64_t at, uint64_t end)
{
    const struct contents *contents = find(map, at, end - at);

    if (contents == NULL) {
        return (struct extent){ .at = at, .bytes = end - at };
    }
    if (at % WORD != 0) {
        contents_touch(map, at, end - at);
    }
    return extents_look(&contents->extents, at, end);
}

void contents_clear(const struct memory_map *map, uint64_t at, uint64_t bytes)
{
    struct contents *contents = find(map, at, bytes);
    uint64_t first;
    uint64_t last;

    if (contents == NULL) {
        return;
    }
    if (!whole_pages(contents, at, at + bytes, &first, &last)) {
        contents_touch(map, at, bytes);
        return;
    }
    contents_touch(map, at, first - at);
    contents_touch(map, last, at + bytes - last);
    make_real(contents, first, last, 0);
}

/* Pages that hold one word over and over, as new ones do, are described from
 * then on. 0: these are not such. */
static int describe_if_constant(
    const struct memory_map *map, uint64_t at, uint64_t bytes)
{
    struct contents *contents = find(map, at, bytes);
    struct extent extent = { .kind = EXTENT_WORD };
    uint64_t end;

    if (contents == NULL ||
        !whole_pages(contents, at, at + bytes, &extent.at, &end) ||
        extent.at != at) {
        return 0;
    }
    const uint64_t *const words = address_of(at);

    extent.bytes = end - at;
    extent.value = words[0];
    /* Equal to itself one word further on. */
    return memcmp(words, words + 1, extent.bytes - WORD) == 0 &&
           describe(map, contents, &extent);
}

void contents_copy(
    const struct memory_map *map, uint64_t dst, uint64_t src, uint64_t bytes)
{
    if (dst < src + bytes && src < dst + bytes) {
        contents_touch(map, dst, bytes);
        contents_touch(map, src, bytes);
        memmove(address_of(dst), address_of(src), bytes);
        return;
    }
    for (uint64_t done = 0; done < bytes;) {
        struct extent extent = contents_look(map, src + done, src + bytes);

        if (extent.kind == EXTENT_REAL &&
            describe_if_constant(map, extent.at, extent.bytes)) {
            continue;
        }
        extent.at = dst + done;
        if (extent.kind == EXTENT_REAL) {
            contents_clear(map, extent.at, extent.bytes);
            memcpy(address_of(extent.at), address_of(src + done), extent.bytes);
        } else {
            contents_write(map, &extent);
        }
        done += extent.bytes;
    }
}

/* ---- Comparing ----------------------------------------------------------- */

/* As pattern_compare, of what is described, with what should be there. */
static uint64_t compare_described(const struct extent *extent,
    const struct extent *right, struct pattern_fault *out)
{
    uint64_t wrong = 0;

    if (extent->kind == right->kind && extent->value == right->value) {
        return 0;
    }
    for (uint64_t at = 0; at < extent->bytes; at += WORD) {
        const uint64_t left = extent->bytes - at;
        const uint64_t mask =
            left < WORD ? (UINT64_C(1) << (8 * left)) - 1 : UINT64_MAX;
        const uint64_t expected = word_of(right, at / WORD) & mask;
        const uint64_t actual = word_of(extent, at / WORD) & mask;

        if (expected != actual && wrong++ == 0) {
            *out = (struct pattern_fault){ at, expected, actual };
        }
    }
    return wrong;
}

/* As pattern_compare, of real memory. */
static uint64_t compare_real(
    uint64_t at, const struct extent *right, struct pattern_fault *out)
{
    const uint8_t *const memory = address_of(at);
    uint64_t wrong = 0;

    if (right->kind == EXTENT_PATTERN) {
        return pattern_compare(memory, right->bytes, right->value, out);
    }
    for (uint64_t i = 0; i < right->bytes; i += WORD) {
        const uint64_t expected = word_of(right, i / WORD);
        uint64_t actual;

        memcpy(&actual, memory + i, WORD);
        if (expected != actual && wrong++ == 0) {
            *out = (struct pattern_fault){ i, expected, actual };
        }
    }
    return wrong;
}

uint64_t contents_differ(const struct memory_map *map,
    const struct extent *right, struct pattern_fault *out_first)
{
    const uint64_t at = right->at;
    const uint64_t bytes = right->bytes;
    uint64_t wrong = 0;

    if (at % WORD != 0) {
        contents_touch(map, at, bytes);
        return compare_real(at, right, out_first);
    }
    for (uint64_t done = 0; done < bytes;) {
        const struct extent extent = contents_look(map, at + done, at + bytes);
        const struct extent here =
            part_of(right, at + done, at + done + extent.bytes);
        struct pattern_fault fault = { .offset = 0 };
        const uint64_t count = extent.kind == EXTENT_REAL
                                   ? compare_real(at + done, &here, &fault)
                                   : compare_described(&extent, &here, &fault);

        if (count > 0 && wrong == 0) {
            *out_first = fault;
            out_first->offset += done;
        }
        wrong += count;
        done += extent.bytes;
    }
    return wrong;
}

uint64_t contents_compare(const struct memory_map *map, uint64_t at,
    uint64_t bytes, uint64_t key, struct pattern_fault *out_first)
{
    const struct extent right = {
        .at = at, .bytes = bytes, .kind = EXTENT_PATTERN, .value = key
    };

    return contents_differ(map, &right, out_first);
}

static uint64_t sum_real(uint64_t at, uint64_t bytes)
{
    const uint8_t *const memory = address_of(at);
    uint64_t sum = 0;

    for (uint64_t i = 0; i < bytes; i += WORD) {
        uint64_t word = 0;

        memcpy(&word, memory + i, bytes - i < WORD ? bytes - i : WORD);
        sum += word;
    }
    return sum;
}

static uint64_t sum_numbers(const struct extent *extent)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < extent->bytes / WORD; i++) {
        sum += word_of(extent, i);
    }
    return sum;
}

uint64_t contents_sum(const struct memory_map *map, uint64_t at, uint64_t bytes)
{
    uint64_t sum = 0;

    for (uint64_t done = 0; done < bytes;) {
        const struct extent extent = contents_look(map, at + done, at + bytes);

        if (extent.kind == EXTENT_REAL) {
            sum += sum_real(at + done, extent.bytes);
        } else if (extent.kind == EXTENT_PATTERN) {
            sum += pattern_sum(extent.bytes, extent.value);
        } else if (extent.kind == EXTENT_WORD) {
            sum += extent.bytes / WORD * extent.value;
        } else {
            sum += sum_numbers(&extent);
        }
        done += extent.bytes;
    }
    return sum;
}
