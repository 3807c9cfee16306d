/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Ladders of sizes, as the parameter "sizes" has them: "quick" (32 MiB),
 * "shmoo" (1 KiB to 64 MiB, each twice the one before), one size, or
 * "start/end/step". A unit has them as single sizes. Pure. */
#ifndef NVBW_LADDER_H
#define NVBW_LADDER_H

#include <stdint.h>

#include "arena.h"
#include "status.h"

enum { LADDER_LIMIT = 1024 }; /* sizes that one element can stand for */

/* Whether an element is one of these. */
int32_t ladder_check(const char *text, struct error *err);
/* Adds the sizes that an element stands for to a list that grows in arena. */
int32_t ladder_expand(const char *text, struct arena *arena, const char ***list,
    uint32_t *count, struct error *err);

#endif
