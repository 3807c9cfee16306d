/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A team of threads that live as long as a measurement, each on a CPU of its
 * own, and do one job at a time together. */
#ifndef NVBW_CPU_TEAM_H
#define NVBW_CPU_TEAM_H

#include "affinity.h"
#include "status.h"

#include <stdint.h>

struct cpu_team;

/* One member's part of a job. Called on the member's thread, for all members
 * at the same moment. */
typedef void cpu_job_fn(void *user, uint32_t member);

/* Starts a member for every mask and moves it there, best effort. The masks
 * are not kept. */
int32_t cpu_team_open(const struct cpu_mask *masks, uint32_t count,
    struct cpu_team **out, struct error *err);
/* Ends and joins the threads. NULL is fine. */
void cpu_team_close(struct cpu_team *team);

/* Wakes the members, has them begin together and waits for all of them. From
 * one thread at a time. */
void cpu_team_run(struct cpu_team *team, cpu_job_fn *job, void *user);

/* Waits without sleeping until *counter is at least `value`; gives the CPU
 * away when that takes long, since members may share one. */
void cpu_wait_for(const _Atomic uint32_t *counter, uint32_t value);

#endif
