/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* GPUs that stopped responding in this run. They are hidden from later
 * workers, and cells that need them end blocked. Pure. */
#ifndef NVBW_TAINT_H
#define NVBW_TAINT_H

#include "conduct.h"

enum { TAINT_LIMIT = 1024 }; /* positions in facts->gpus */

struct taint {
    unsigned char gpus[TAINT_LIMIT];
    uint32_t count;
};

void taint_add(struct taint *taint, uint32_t gpu);
int taint_has(const struct taint *taint, uint32_t gpu);

/* Text for CUDA_VISIBLE_DEVICES: the UUIDs of the GPUs that any of the units
 * uses and that are not tainted. NULL where the workers should see what the
 * host sees: no unit uses a GPU, or one has no UUID. */
int32_t taint_devices(const struct taint *taint, const struct facts *facts,
    const struct unit *units, uint32_t units_count, struct arena *arena,
    const char **out_text, struct error *err);

/* The tainted GPU that a cell needs, or -1. recording: the unit's recorded
 * run, whose flows tell it; without it the cell's place on a gpu axis does. */
int32_t taint_blocks(const struct taint *taint, const struct unit *unit,
    uint32_t cell, const struct recording *recording);

#endif
