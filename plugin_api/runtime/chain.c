/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "chain.h"

#include <inttypes.h>

#include "nvbw/plugin.h"
#include "pattern.h"

enum { ROUNDS = 3 };

static uint32_t bits_of(uint64_t count)
{
    uint32_t bits = 1;

    while (bits < 63 && (UINT64_C(1) << bits) < count) {
        bits++;
    }
    return bits;
}

/* A bijection on numbers of so many bits: odd factors and shifted copies can
 * be undone. */
static uint64_t mix(const struct chain *chain, uint64_t value)
{
    const uint64_t mask = (UINT64_C(1) << chain->bits) - 1;
    const uint32_t shift = chain->bits / 2 + 1;

    for (uint64_t round = 0; round < ROUNDS; round++) {
        value = (value + pattern_word(chain->key, 2 * round)) & mask;
        value = (value * (pattern_word(chain->key, 2 * round + 1) | 1)) & mask;
        value ^= value >> shift;
    }
    return value;
}

/* The slot of the node so many steps from the head. Numbers that the mixing
 * takes out of range are mixed until they are back, which keeps it a
 * bijection. */
static uint64_t slot_of(const struct chain *chain, uint64_t rank)
{
    uint64_t slot = rank % chain->count;

    if (!chain->random) {
        return slot;
    }
    do {
        slot = mix(chain, slot);
    } while (slot >= chain->count);
    return slot;
}

static uint64_t address_of(const struct chain *chain, uint64_t slot)
{
    return chain->memory + CHASE_OFFSET(pattern_word(chain->key, slot), slot,
                               chain->step, chain->lines);
}

static int32_t refuse(uint64_t bytes, uint64_t stride, struct error *err)
{
    error_set(err, NVBW_E_SKIPPED,
        "no chain of loads fits %" PRIu64 " bytes with a stride of %" PRIu64
        ": it needs two nodes, and strides are multiples of %d bytes",
        bytes, stride, CHASE_NODE);
    if (err != NULL) {
        err->code = NVBW_SKIP_MEMORY;
    }
    return NVBW_E_SKIPPED;
}

static int32_t refuse_many(
    uint64_t bytes, uint64_t stride, uint64_t nodes_most, struct error *err)
{
    error_set(err, NVBW_E_SKIPPED,
        "a chain through %" PRIu64 " bytes with a stride of %" PRIu64
        " has more than %" PRIu64 " nodes; take a smaller footprint or a "
        "random chain",
        bytes, stride, nodes_most);
    if (err != NULL) {
        err->code = NVBW_SKIP_MEMORY;
    }
    return NVBW_E_SKIPPED;
}

int32_t chain_make(uint64_t bytes, uint64_t stride, uint64_t seed,
    uint64_t nodes_most, struct chain *out, struct error *err)
{
    const uint64_t least = stride == 0 ? CHASE_LINE : stride;
    const uint64_t most = bytes / least;

    if (least % CHASE_NODE != 0 || most < 2 || nodes_most < 2) {
        return refuse(bytes, stride, err);
    }
    *out = (struct chain){ .count = most,
        .step = least,
        .lines = 1,
        .key = pattern_key(seed, bytes, stride),
        .random = stride == 0 };
    if (!out->random && most > nodes_most) {
        return refuse_many(bytes, stride, nodes_most, err);
    }
    if (most > nodes_most) {
        out->count = nodes_most;
        out->step = bytes / nodes_most / CHASE_LINE * CHASE_LINE;
        out->lines = out->step / CHASE_LINE;
    }
    out->bits = bits_of(out->count);
    return NVBW_OK;
}

uint64_t chain_at(const struct chain *chain, uint64_t rank)
{
    return address_of(chain, slot_of(chain, rank));
}

void chain_list(const struct chain *chain, uint64_t *out_list)
{
    uint64_t slot = slot_of(chain, 0);

    for (uint64_t rank = 0; rank < chain->count; rank++) {
        const uint64_t next = slot_of(chain, rank + 1);

        out_list[slot] = address_of(chain, next);
        slot = next;
    }
}

uint64_t chain_tag(const struct chain *chain)
{
    return pattern_key(
               chain->count ^ chain->step << 32, chain->lines, chain->key) |
           1;
}
