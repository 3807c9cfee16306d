/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Rule C27: each call of the host that a recorded run makes is made to fail,
 * one at a time, and the plugin must end cleanly every time. */
#ifndef NVBW_CHECK_TORTURE_H
#define NVBW_CHECK_TORTURE_H

#include "conduct.h"

/* Which calls of a run that makes `calls`: all of them, or the first 200 and
 * then some at even distances. Returns how many were written to out_calls,
 * at most TORTURE_LIMIT. Pure. */
enum { TORTURE_FIRST = 200, TORTURE_MORE = 56, TORTURE_LIMIT = 256 };
uint32_t check_torture_calls(uint32_t calls, uint32_t out_calls[TORTURE_LIMIT]);

/* Tortures the unit. *out_fault: a sentence that lives in arena, or NULL where
 * it ended cleanly each time. */
int32_t check_torture(const struct worker_setup *setup,
    const struct facts *facts, const struct unit *unit, uint32_t calls,
    struct arena *arena, const char **out_fault, struct error *err);

#endif
