/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Decline: what becomes of a GPU in mid-run, by its faults. Driver and NVML
 * each have a profile of their own, which is changed here. */
#ifndef SIM_DECLINE_H
#define SIM_DECLINE_H

#include "sim_faults.h"
#include "sim_profile.h"

/* Each kind strikes a GPU once: declined is a set of those that have, 0 at
 * first. operations: of this GPU, the one that is about to be made included.
 * 1 where the profile has changed. */
int decline_gpu(const struct faults *faults, uint32_t gpu, uint64_t operations,
    uint32_t *declined, struct profile_gpu *profile);

#endif
