/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Traffic whose measurements grow with the number of ranks, or not at all,
 * where all pairs would grow with its square. What is measured follows from the
 * parameter `seed`, so that a run can be repeated. */
#ifndef NVBW_SAMPLED_H
#define NVBW_SAMPLED_H

#include "at_once.h"

/* A testcase's `user` is a rank_mover. */

/* Each rank with `peers` others: ("bandwidth", rank, k), and their median,
 * which tells a slow rank from a slow partner: ("median", rank, 0). */
int32_t sampled_gpu_to_rack(struct nvbw_ctx *ctx);

/* All ranks of a rack with those of another, at once: the sum of their rates
 * at ("bandwidth", one, other); a rack with itself where both are the same. */
int32_t sampled_rack_to_rack(struct nvbw_ctx *ctx);

/* All ranks at once, each with another, so many times with others:
 * ("bandwidth", rank, round). */
int32_t sampled_fabric_stress(struct nvbw_ctx *ctx);

/* Pure: the k-th partner of a rank, never itself; and by how many ranks all
 * are shifted in a round of stress, at least 1 and less than ranks. None comes
 * again before all others have come. */
uint32_t sampled_partner(
    uint64_t seed, uint32_t rank, uint32_t k, uint32_t ranks);
uint32_t sampled_step(uint64_t seed, uint32_t round, uint32_t ranks);

#endif
