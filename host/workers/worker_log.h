/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What a worker prints on stdout and stderr, kept in a file of its own up to
 * a bound per unit; past it bytes are counted and dropped. */
#ifndef NVBW_WORKER_LOG_H
#define NVBW_WORKER_LOG_H

#include <stddef.h>
#include <stdint.h>

enum { WORKER_LOG_BYTES = 1 << 20 }; /* per unit */

struct worker_log {
    char file[4096]; /* made when the first byte comes; "": all is dropped */
    int fd;
    uint64_t left_bytes, dropped_bytes;
};

/* log_dir NULL: all is dropped. */
void worker_log_init(
    struct worker_log *log, const char *log_dir, const char *role, int pid);
void worker_log_add(struct worker_log *log, const void *bytes, size_t length);
/* A new unit: the full bound again. What was dropped until now is noted. */
void worker_log_renew(struct worker_log *log);
void worker_log_close(struct worker_log *log);

#endif
