/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Starts one worker process. Only ever from the host's main thread: the
 * parent-death signal follows the thread. */
#ifndef NVBW_SPAWN_H
#define NVBW_SPAWN_H

#include "status.h"

#include <sys/types.h>

struct spawn_request {
    const char *worker_file;        /* the nvbw-worker binary */
    const char *role;               /* for ps: argv[1] */
    const char *const *environment; /* NAME=value that replace or, as "NAME",
                                       remove; NULL-terminated */
    const char *const *wrap; /* argv prefix of --wrap, NULL-terminated, or
                                NULL */
    const char *log_file;    /* gets stdout and stderr when wrap is NULL and
                                keep_terminal 0 */
};
struct spawned {
    pid_t pid;
    int pidfd;
    int to_fd, from_fd; /* frames to and from the worker */
    int log_fd;         /* its stdout and stderr, or -1 */
};
int32_t spawn_worker(const struct spawn_request *request, struct spawned *out,
    struct error *err);

#endif
