/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Extents: a sorted list of what is described; what lies between is real.
 * Pure: no page is touched. Ends are multiples of eight. */
#ifndef SIM_EXTENTS_H
#define SIM_EXTENTS_H

#include <stdint.h>

#include "args.h"
#include "pattern.h"

enum { EXTENTS_MAX = 4096 };
/* From EXTENT_NUMBERS on: arrays of numbers, by form (kernels/args.h). */
enum extent_kind {
    EXTENT_REAL,
    EXTENT_PATTERN,
    EXTENT_WORD,
    EXTENT_NUMBERS,
    EXTENT_KINDS = EXTENT_NUMBERS + NUMBER_FORMS
};

struct extent {
    uint64_t at, bytes;
    enum extent_kind kind;
    uint64_t value; /* the word, or the key under which `at` is word 0 */
};

struct extents {
    struct extent *list;
    uint32_t count, room;
};

/* The value that describes what stands `bytes` further on. */
uint64_t extent_value_at(enum extent_kind kind, uint64_t value, uint64_t bytes);
/* The longest stretch from here, at most to `end`, that is one kind. */
struct extent extents_look(
    const struct extents *extents, uint64_t at, uint64_t end);
/* 0, or -1: there are too many, nothing is changed. */
int extents_cut(struct extents *extents, uint64_t at, uint64_t end);
int extents_put(struct extents *extents, const struct extent *extent);
void extents_free(struct extents *extents);

#endif
