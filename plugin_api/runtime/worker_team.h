/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A worker as one rank of an MPI job: how the team is formed and how tasks of
 * rank 0's host reach all its workers. */
#ifndef NVBW_WORKER_TEAM_H
#define NVBW_WORKER_TEAM_H

#include "worker_roles.h"

/* The team of the plugin that joined in its init; first it knows no more than
 * its own rank. Lives in the worker's arena. */
int32_t worker_team_open(
    struct worker *worker, struct service *service, struct error *err);
/* Collective: the facts of all ranks become the worker's, its engine is opened
 * on them, and *out says how memory is shared. gpus: positions in the facts of
 * this host that ranks may use. */
int32_t worker_team_form(struct worker *worker, const struct task_frame *task,
    struct team_frame *out, struct error *err);

/* Rank 0: passes a task on to all others; NULL: there is no other, they may
 * end. */
int32_t worker_team_pass(struct worker *worker, const struct task_frame *task,
    struct arena *arena, struct error *err);
/* Rank 0, while it has no task: tells the others that it is still there. */
int32_t worker_team_stay(struct worker *worker, struct error *err);
/* The others: waits for a task; *out is NULL at the end. */
int32_t worker_team_take(struct worker *worker, struct arena *arena,
    struct task_frame **out, struct error *err);

#endif
