/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Which CPUs a thread runs on. Everything here concerns the calling thread,
 * is best effort and never goes beyond the CPUs that the process was given:
 * a measurement on the wrong CPUs says so, it does not fail. */
#ifndef NVBW_AFFINITY_H
#define NVBW_AFFINITY_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

enum { AFFINITY_CPUS = 4096, AFFINITY_TEXT_BYTES = 256 };

struct cpu_mask {
    cpu_set_t sets[AFFINITY_CPUS / CPU_SETSIZE];
};

/* Parses "0-15,32"; 0 and an empty mask where it is no such list. Pure. */
int affinity_parse(const char *list, struct cpu_mask *out);
/* The list text of a mask, cut with "..." where the room ends; "none" for an
 * empty one. Pure. */
void affinity_text(const struct cpu_mask *mask, char *out, size_t out_bytes);
uint32_t affinity_count(const struct cpu_mask *mask);
/* A mask of the n-th CPU alone, n modulo the count; 0 for an empty mask. */
int affinity_pick(
    const struct cpu_mask *mask, uint32_t n, struct cpu_mask *out);

/* Keeps one CPU of every core: hardware threads of one core share its path to
 * memory. Leaves the mask where the system does not tell. */
void affinity_keep_cores(struct cpu_mask *mask);

/* CPUs of the calling thread; empty where the system does not say. */
void affinity_current(struct cpu_mask *out);
/* Those of the list that the calling thread may use. NULL or an empty
 * intersection: all that it may use. */
void affinity_allowed(const char *list, struct cpu_mask *out);
/* Moves the calling thread; 1 if the system did it. */
int affinity_set(const struct cpu_mask *mask);

#endif
