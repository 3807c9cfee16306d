/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The part of interview.c that the conductor shares: a recorded run within a
 * crew that is already there, so that signals end it. */
#ifndef NVBW_INTERVIEW_H
#define NVBW_INTERVIEW_H

#include "conduct.h"
#include "supervise.h"

/* *out_cause: state NONE, or why the recorded run failed. */
int32_t interview_record(const struct worker_setup *setup, struct crew *crew,
    const struct facts *facts, const struct unit *unit, struct arena *arena,
    struct recording *out, struct cause *out_cause, struct error *err);

#endif
