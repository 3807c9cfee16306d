/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Child processes: looking at their death without taking it away, killing,
 * reaping, and sweeping up what escaped from a worker.
 *
 * The host is a child subreaper: what a worker left behind, even in a session
 * of its own, becomes a child of the host when the worker dies. */
#ifndef NVBW_REAP_H
#define NVBW_REAP_H

#include <stdint.h>
#include <sys/types.h>

enum { REAP_LIST_LIMIT = 256 };

/* Children that a sweep leaves alone. */
struct pid_list {
    pid_t pids[REAP_LIST_LIMIT];
    uint32_t count;
};
void pid_list_add(struct pid_list *list, pid_t pid); /* full: no effect */
void pid_list_remove(struct pid_list *list, pid_t pid);
int pid_list_has(const struct pid_list *list, pid_t pid);

/* How a process ended. */
struct death {
    int32_t exit_code;     /* where it exited */
    int32_t signal_number; /* 0 where it exited */
};

/* 1 and *out if the child is dead; it stays a zombie, so neither its number
 * nor its group's can be used again yet. 0: alive. */
int reap_peek(pid_t pid, struct death *out);
/* Takes a dead child away. Does not block. */
void reap_take(pid_t pid);

/* All children of this process now, zombies included. */
void reap_children(struct pid_list *out);

/* Kills and reaps every child that is not in kept, and again what becomes a
 * child by that, within a bound of time. What cannot be killed is added to
 * kept. */
void reap_sweep(struct pid_list *kept);

#endif
