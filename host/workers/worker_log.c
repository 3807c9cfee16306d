/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "worker_log.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

void worker_log_init(
    struct worker_log *log, const char *log_dir, const char *role, int pid)
{
    *log = (struct worker_log){ .fd = -1, .left_bytes = WORKER_LOG_BYTES };
    if (log_dir == NULL) {
        return;
    }

    const int length = snprintf(
        log->file, sizeof log->file, "%s/%s-%d.log", log_dir, role, pid);

    if (length < 0 || (size_t)length >= sizeof log->file) {
        log->file[0] = '\0';
    }
}

/* A log that cannot be written must not stop the run. */
static void put(struct worker_log *log, const void *bytes, size_t length)
{
    if (log->fd < 0 && log->file[0] != '\0') {
        log->fd = open(log->file,
            O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW,
            0644);
    }
    if (log->fd < 0) {
        return;
    }
    if (write(log->fd, bytes, length) != (ssize_t)length) {
        log->dropped_bytes += length;
    }
}

void worker_log_add(struct worker_log *log, const void *bytes, size_t length)
{
    const size_t kept =
        length < log->left_bytes ? length : (size_t)log->left_bytes;

    if (kept > 0) {
        put(log, bytes, kept);
    }
    log->left_bytes -= kept;
    log->dropped_bytes += length - kept;
}

static void note_dropped(struct worker_log *log)
{
    char note[96];

    if (log->dropped_bytes == 0) {
        return;
    }

    const int length = snprintf(note, sizeof note,
        "\n[nvbw-host: %" PRIu64 " bytes more were dropped]\n",
        log->dropped_bytes);

    log->dropped_bytes = 0;
    put(log, note, (size_t)length);
}

void worker_log_renew(struct worker_log *log)
{
    note_dropped(log);
    log->left_bytes = WORKER_LOG_BYTES;
}

void worker_log_close(struct worker_log *log)
{
    note_dropped(log);
    if (log->fd >= 0) {
        close(log->fd);
        log->fd = -1;
    }
}
