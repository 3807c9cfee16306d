/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Which machine is simulated: profile and faults, as the environment says. */
#ifndef SIM_SETUP_H
#define SIM_SETUP_H

#include "sim_faults.h"
#include "sim_profile.h"

/* Reads NVBW_SIM_PROFILE and NVBW_SIM_FAULTS; the faults of the profile come
 * first. 0, or -1 and a sentence. */
int setup_read(
    struct profile *profile, struct faults *faults, char *trouble, size_t size);

#endif
