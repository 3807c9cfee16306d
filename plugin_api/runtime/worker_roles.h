/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What a worker does for each kind of task. */
#ifndef NVBW_WORKER_ROLES_H
#define NVBW_WORKER_ROLES_H

#include "nvml_watch.h"
#include "service.h"

enum { WORKER_PLUGINS = 256 };

/* All that a worker keeps from task to task. */
struct worker {
    int out_fd;
    struct arena arena;       /* facts and plugins: until the process ends */
    struct facts *facts;      /* NULL before FACTS */
    struct engine *engine;    /* NULL before the first run task */
    struct peers *peers;      /* of an MPI job, else NULL */
    struct nvml_watch *watch; /* NULL before the watch task */
    struct log_buffer *log;
    struct service *services[WORKER_PLUGINS]; /* one per plugin loaded */
    uint32_t services_count;
};

/* After a task: go on, or end with this BYE. */
struct task_end {
    const char *bye;    /* NULL: go on */
    char message[1024]; /* as long as an error's */
};

/* Carries out a task and sends its frames, DONE included. */
void worker_do_task(struct worker *worker, const struct task_frame *task,
    struct arena *arena, struct task_end *out_end);
/* Opens the engine on the worker's facts, unless it is open. */
int32_t worker_need_engine(
    struct worker *worker, const struct task_frame *task, struct error *err);
/* Answers READ with READINGS; without NVML there are none. (worker_watch.c) */
int32_t worker_read(struct worker *worker, const struct read_frame *read,
    struct arena *arena, struct error *err);
/* 1 for rank 0 of an MPI job whose other ranks follow it. */
int worker_leads_team(const struct worker *worker);
/* Opens NVML for it, once. */
int32_t worker_open_watch(
    struct worker *worker, const char *driver_file, struct error *err);
/* Calls fini of every plugin that was initialised. */
void worker_end_plugins(struct worker *worker);

#endif
