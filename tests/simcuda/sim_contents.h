/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Contents: what large buffers hold, kept as a description where it can be.
 * A run of pages is either real or is said to hold a pattern or a repeated
 * word; then it has no access rights, and whoever touches it by an address
 * gets its bytes made in that moment (sim_trap.c). So whole slices cost a few
 * instructions to fill, to copy and to compare, and every other access still
 * meets true bytes. */
#ifndef SIM_CONTENTS_H
#define SIM_CONTENTS_H

#include "pattern.h"
#include "sim_extents.h"
#include "sim_memory.h"

struct contents;

/* For a range whose pages may lose their access rights; NULL: no memory, the
 * range stays real. own: nobody else needs its pages while they are described.
 */
struct contents *contents_open(uint64_t base, uint64_t bytes, int own);
/* Without making the bytes: for memory that is given back. */
void contents_close(struct contents *contents);

/* Writes the pattern, or a word over and over. Any address, any number. */
void contents_fill(
    const struct memory_map *map, uint64_t at, uint64_t bytes, uint64_t key);
void contents_repeat(
    const struct memory_map *map, uint64_t at, uint64_t bytes, uint64_t word);
/* The same with what an extent says. */
void contents_write(const struct memory_map *map, const struct extent *extent);
/* Bytes will be overwritten: those of whole pages need not be made before. */
void contents_clear(const struct memory_map *map, uint64_t at, uint64_t bytes);
/* The longest stretch from here that is real or described. One that does not
 * begin with a word is made real. */
struct extent contents_look(
    const struct memory_map *map, uint64_t at, uint64_t end);
void contents_copy(
    const struct memory_map *map, uint64_t dst, uint64_t src, uint64_t bytes);
/* As pattern_compare and the sum of all words. */
uint64_t contents_compare(const struct memory_map *map, uint64_t at,
    uint64_t bytes, uint64_t key, struct pattern_fault *out_first);
/* The same against what an extent says. */
uint64_t contents_differ(const struct memory_map *map,
    const struct extent *right, struct pattern_fault *out_first);
uint64_t contents_sum(
    const struct memory_map *map, uint64_t at, uint64_t bytes);
/* Makes the bytes of every page concerned real. 1: some were not. */
int contents_touch(const struct memory_map *map, uint64_t at, uint64_t bytes);
/* Bytes that are described only. */
uint64_t contents_described(const struct contents *contents);

#endif
