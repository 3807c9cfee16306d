/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What a plan says that fits its form, but hardly this machine or any: each a
 * warning with its place. Pure. */
#ifndef NVBW_DOUBTS_H
#define NVBW_DOUBTS_H

#include "judge.h"

/* A cause that is a finding's id but for a slip would cover nothing. */
void doubt_causes(const struct plan *plan, struct problems *out);

/* Numbers of GPUs that are not there. Without any GPU nothing is said, nor of
 * UUIDs and addresses: a plan for many machines lists those of all. */
void doubt_devices(
    const struct plan *plan, const struct facts *facts, struct problems *out);

/* Rates that bind cells and are far below what the link carries, or above
 * it. */
int32_t doubt_limits(const struct evidence *evidence,
    const struct verdicts *verdicts, struct problems *out, struct error *err);

#endif
