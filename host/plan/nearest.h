/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The known name that a person probably meant. Pure. */
#ifndef NVBW_NEAREST_H
#define NVBW_NEAREST_H

#include <stddef.h>
#include <stdint.h>

enum { NEAREST_HINT_BYTES = 128 };

/* A search: begin it with the unknown name, offer every known one. */
struct nearest {
    const char *name;
    const char *best; /* of those offered; NULL: none is near */
    uint32_t distance;
};

void nearest_begin(struct nearest *nearest, const char *name);
/* candidate must live as long as the search; NULL is ignored. */
void nearest_offer(struct nearest *nearest, const char *candidate);
/* Writes ", did you mean \"best\"", or nothing. Returns out. */
const char *nearest_hint(
    const struct nearest *nearest, char out[NEAREST_HINT_BYTES]);

/* Insertions, deletions, replacements and swaps of neighbours that make one of
 * the other; UINT32_MAX for names longer than 63 bytes. Case does not count. */
uint32_t nearest_distance(const char *one, const char *other);

#endif
