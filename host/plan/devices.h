/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Which GPUs a selection means on a machine. Pure. */
#ifndef NVBW_DEVICES_H
#define NVBW_DEVICES_H

#include "facts.h"

/* Positions in facts->gpus, in the order in which the words name them, each
 * once. A word is "all", an index, a range "0-3", a UUID or a PCI address. One
 * that names no GPU of the machine is an error; on a machine without GPUs
 * every selection is empty. */
int32_t devices_select(const struct facts *facts, const char *const *words,
    uint32_t words_count, struct arena *arena, uint32_t **out_gpus,
    uint32_t *out_count, struct error *err);

/* 1 for a word that names at most one GPU of any machine. */
int devices_is_one(const char *word);

/* Those of list that are in allowed too, in list's order; in place. */
void devices_intersect(uint32_t *list, uint32_t *count, const uint32_t *allowed,
    uint32_t allowed_count);

#endif
