/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* --dry-run: what a run would measure, from the recorded runs of its units.
 * Touches no GPU. */
#ifndef NVBW_DRY_RUN_H
#define NVBW_DRY_RUN_H

#include "prepare.h"

/* To stdout. Returns the exit code. */
int dry_run_print(struct prepared *prepared);

#endif
