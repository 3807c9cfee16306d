/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* --targetNumPairs and a budget: of all pairs of GPUs only some are measured.
 */
#ifndef NVBW_LEAVE_OUT_H
#define NVBW_LEAVE_OUT_H

#include "prepare.h"

/* Records, state skip (excluded), of the cells of a unit whose pair is not
 * among `pairs` ones. Which are is chosen by the unit's seed and is the same
 * for all units of equally many GPUs. With the records in its evidence a run
 * takes these cells as settled. why is their message. The list lives in
 * arena. */
int32_t leave_out_pairs(const struct unit *unit, uint32_t pairs,
    const char *why, struct arena *arena, struct record **out_records,
    uint32_t *out_count, struct error *err);

#endif
