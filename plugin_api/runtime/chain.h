/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Chains of dependent loads on GPUs: nodes in slots of equal size, of which
 * each leads to the next and the last to the first. Where a walk of so many
 * steps ends is computed and not walked. Pure. */
#ifndef NVBW_CHAIN_H
#define NVBW_CHAIN_H

#include <stdint.h>

#include "args.h"
#include "status.h"

struct chain {
    uint64_t memory; /* address of slot 0, 0: not known yet */
    uint64_t count;  /* nodes */
    uint64_t step;   /* bytes of a slot */
    uint64_t lines;  /* of a slot, one of which a hash chooses; 1: the first */
    uint64_t key;    /* of that hash, and of the order */
    uint32_t random; /* 0: in order of addresses */
    uint32_t bits;   /* random: of the smallest power of two from count on */
};

/* stride: bytes from one node to the next; 0: a random cycle over all lines,
 * of at most nodes_most nodes, which then stand further apart.
 * NVBW_E_SKIPPED with a reason as code where the memory is too small. */
int32_t chain_make(uint64_t bytes, uint64_t stride, uint64_t seed,
    uint64_t nodes_most, struct chain *out, struct error *err);

/* Address of the node so many steps from the head; any number of them. */
uint64_t chain_at(const struct chain *chain, uint64_t rank);

/* Writes for each slot the address of the node that follows its own. */
void chain_list(const struct chain *chain, uint64_t *out_list);

/* Tells chains apart that are laid into the same memory; never 0. */
uint64_t chain_tag(const struct chain *chain);

#endif
