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
    const char *const *wrap;        /* argv prefix of --wrap, NULL-terminated,
                                       or NULL */
    const char *keep; /* a variable that may name a descriptor, which the worker
                         then has too, under a number of its own; or NULL */
};

/* All descriptors are close-on-exec; the pipes' ends do not block. */
struct spawned {
    pid_t pid;          /* leader of a process group of its own */
    int pidfd;          /* -1 where the kernel has none (before 5.3) */
    int to_fd, from_fd; /* frames to and from the worker */
    int log_fd;         /* its stdout and stderr; -1 under wrap, where the
                           worker has the terminal */
};

/* Starts nvbw-worker with frames on descriptors 3 and 4, an empty signal mask,
 * default dispositions and no other descriptor of the host but the one to keep.
 * Fails, and leaves nothing behind, if the program cannot be executed. */
int32_t spawn_worker(const struct spawn_request *request, struct spawned *out,
    struct error *err);

/* Closes the descriptors that are still open and takes the terminal back. */
void spawned_close(struct spawned *process);

#endif
