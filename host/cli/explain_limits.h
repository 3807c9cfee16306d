/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* check-plan --explain-limits: which limit holds for each cell, what it comes
 * to on this machine, by which formula, and where it was written. */
#ifndef NVBW_EXPLAIN_LIMITS_H
#define NVBW_EXPLAIN_LIMITS_H

#include "prepare.h"

/* Asks for facts, records each unit (no GPU is touched by that) and prints to
 * stdout. Returns the exit code. */
int explain_limits_print(struct prepared *prepared);

#endif
