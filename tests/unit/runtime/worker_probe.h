/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A worker process for tests, spoken to frame by frame. */
#ifndef NVBW_WORKER_PROBE_H
#define NVBW_WORKER_PROBE_H

#include <sys/types.h>

#include "wire.h"

struct worker_probe {
    pid_t pid;
    int to_fd, from_fd;
    struct arena arena; /* what was received */
};

/* Starts the worker and takes its HELLO; fails the test otherwise. */
void probe_start(struct worker_probe *probe, const char *worker_file);
void probe_send(struct worker_probe *probe, uint32_t type, const void *object);
/* The next frame, LOG frames left out; 0 at the end of the pipe. */
uint32_t probe_receive(struct worker_probe *probe, void **out_object);
/* The next frame must be of this type. */
void *probe_expect(struct worker_probe *probe, uint32_t type);
/* Closes, reaps and returns the wait status. */
int probe_end(struct worker_probe *probe);

/* A unit of a plugin's testcase on a machine with one node, without
 * parameters and shapes. */
void probe_facts(struct facts *out);

#endif
