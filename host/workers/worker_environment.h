/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The environment of a worker: the host's own, with what the contract fixes
 * put over it. Pure; the caller passes the host's environment in. */
#ifndef NVBW_WORKER_ENVIRONMENT_H
#define NVBW_WORKER_ENVIRONMENT_H

#include "arena.h"
#include "status.h"

struct environment_request {
    const char *devices;     /* for CUDA_VISIBLE_DEVICES; NULL: as inherited */
    const char *sim_profile; /* for NVBW_SIM_PROFILE, or NULL */
    uint32_t connections;    /* of facts_connections; 0: the most */
    int64_t parent_pid;      /* for NVBW_PARENT; 0: told nothing, for a worker
                                that starts under a wrapper */
};

/* What a worker gets on top of the inherited environment, "NAME=value", or
 * "NAME" for what is taken away. NULL-terminated; lives in arena. */
int32_t worker_environment_build(const struct environment_request *request,
    struct arena *arena, const char *const **out_list, struct error *err);

/* base with changes put over it: the envp of execve. Lives in arena, its texts
 * are those of base and changes. */
int32_t worker_environment_merge(const char *const *base,
    const char *const *changes, struct arena *arena, char ***out_list,
    struct error *err);

/* The part of a worker's environment that a reader of the run must know, for
 * run_header.environment: what the host sets and what bears on a measurement
 * (CUDA_*, NVBW_*, LD_*, ...). Lives in arena. */
int32_t worker_environment_notable(const char *const *environment,
    struct arena *arena, const char ***out_list, uint32_t *out_count,
    struct error *err);

#endif
