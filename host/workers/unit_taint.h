/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* GPUs that stopped responding, and the cells of a unit that touch them. */
#ifndef NVBW_UNIT_TAINT_H
#define NVBW_UNIT_TAINT_H

#include "unit_run.h"

/* After a worker's end that leaves doubt: asks whether the GPUs that it used
 * are of use to others. */
int32_t unit_taint_check(struct unit_run *run, struct error *err);
/* Which GPUs a cell touches, by a recorded run: once, and only where some are
 * tainted. */
int32_t unit_taint_record(struct unit_run *run, struct error *err);
/* Settles the wanted cells that touch one of those. */
int32_t unit_taint_block(struct unit_run *run, struct error *err);

#endif
