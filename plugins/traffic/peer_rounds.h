/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* All pairs of GPUs in rounds, each GPU at most once in a round, as in a
 * tournament where everybody meets everybody: one GPU stays where it is, the
 * others go round. With an odd number somebody sits out. Pure. */
#ifndef NVBW_PEER_ROUNDS_H
#define NVBW_PEER_ROUNDS_H

#include <stdint.h>

static inline uint32_t peer_rounds(uint32_t gpus)
{
    if (gpus < 2) {
        return 0;
    }
    return gpus % 2 == 0 ? gpus - 1 : gpus;
}

/* The i-th pair of a round, i from 0 to half the GPUs, rounded up: 1 and the
 * two GPUs, or 0 where one of them sits out. */
static inline int peer_round_pair(uint32_t gpus, uint32_t round, uint32_t i,
    uint32_t *out_one, uint32_t *out_other)
{
    const uint32_t circle = peer_rounds(gpus);

    *out_one = (round + i) % circle;
    *out_other = i == 0 ? circle : (round + circle - i) % circle;
    return *out_other < gpus;
}

#endif
