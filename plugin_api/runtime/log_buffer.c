/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "log_buffer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Stands before each text, which ends with a NUL. */
struct line {
    uint64_t now_ns;
    uint32_t level, length;
};

/* Lines are only appended until the unit ends, so what lies below a value of
 * used that was read under the lock can be read without it. */
struct log_buffer {
    pthread_mutex_t lock;
    uint32_t limit_bytes;
    uint32_t used, drained;
    uint32_t dropped;
    char bytes[];
};

int32_t log_buffer_open(
    uint32_t limit_bytes, struct log_buffer **out, struct error *err)
{
    struct log_buffer *const log = calloc(1, sizeof *log + limit_bytes);

    FAIL_IF(log == NULL, err, NVBW_E_SYSTEM, "no memory for the log");
    pthread_mutex_init(&log->lock, NULL);
    log->limit_bytes = limit_bytes;
    *out = log;
    return NVBW_OK;
}

void log_buffer_close(struct log_buffer *log)
{
    if (log != NULL) {
        pthread_mutex_destroy(&log->lock);
        free(log);
    }
}

static void append(
    struct log_buffer *log, const struct line *line, const char *text)
{
    const uint32_t need = (uint32_t)sizeof *line + line->length + 1;

    if (need > log->limit_bytes - log->used) {
        log->dropped++;
        return;
    }

    char *const at = log->bytes + log->used;

    memcpy(at, line, sizeof *line);
    memcpy(at + sizeof *line, text, line->length);
    at[sizeof *line + line->length] = '\0';
    log->used += need;
}

void log_buffer_add(
    struct log_buffer *log, uint32_t level, const char *text, uint64_t now_ns)
{
    if (text == NULL) {
        return;
    }

    const struct line line = { now_ns, level,
        (uint32_t)strnlen(text, LOG_LINE_LIMIT_BYTES) };

    pthread_mutex_lock(&log->lock);
    append(log, &line, text);
    pthread_mutex_unlock(&log->lock);
}

void log_buffer_drain(struct log_buffer *log, log_line_fn *fn, void *user)
{
    pthread_mutex_lock(&log->lock);
    const uint32_t end = log->used;
    const uint32_t dropped = log->dropped;

    log->dropped = 0;
    pthread_mutex_unlock(&log->lock);
    while (log->drained < end) {
        const char *const at = log->bytes + log->drained;
        struct line line;

        memcpy(&line, at, sizeof line);
        fn(user, line.level, at + sizeof line, line.now_ns, 0);
        log->drained += (uint32_t)sizeof line + line.length + 1;
    }
    if (dropped > 0) {
        fn(user, NVBW_LOG_WARN, "the log is full, lines were dropped", 0,
            dropped);
    }
}

void log_buffer_reset(struct log_buffer *log)
{
    pthread_mutex_lock(&log->lock);
    log->used = 0;
    log->drained = 0;
    log->dropped = 0;
    pthread_mutex_unlock(&log->lock);
}
