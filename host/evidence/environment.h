/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Under which circumstances a run was made. */
#ifndef NVBW_ENVIRONMENT_H
#define NVBW_ENVIRONMENT_H

#include "evidence.h"

/* Fills the header from this process: build, command line, time, clock and
 * boot, a fresh run_id, and those variables of the environment that change
 * what is measured (names from a fixed list, so no secret is written).
 * argv is quoted so that a shell reads it back. */
int32_t run_header_fill(struct run_header *header, int argc,
    const char *const *argv, struct arena *arena, struct error *err);

/* Adds NAME=value, as given to workers. */
int32_t run_header_add(struct run_header *header, const char *name_value,
    struct arena *arena, struct error *err);

/* Now, "2026-11-29T23:15:00Z"; NULL without memory. */
const char *time_iso(struct arena *arena);
/* Which start of the machine this is; NULL: unknown. */
const char *environment_boot_id(struct arena *arena);
/* CLOCK_MONOTONIC. */
uint64_t time_monotonic_ns(void);

#endif
