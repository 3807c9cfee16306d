/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What a plugin logs, kept in memory until no sample is running: writing to
 * the pipe from inside a timed region would block or disturb it. Past the
 * limit of a unit lines are counted and dropped. */
#ifndef NVBW_LOG_BUFFER_H
#define NVBW_LOG_BUFFER_H

#include <stdint.h>

#include "status.h"

enum { LOG_UNIT_LIMIT_BYTES = 1 << 20, LOG_LINE_LIMIT_BYTES = 4096 };

struct log_buffer;

int32_t log_buffer_open(
    uint32_t limit_bytes, struct log_buffer **out, struct error *err);
void log_buffer_close(struct log_buffer *log);

/* [any] Adds a line; longer ones are cut at LOG_LINE_LIMIT_BYTES. */
void log_buffer_add(
    struct log_buffer *log, uint32_t level, const char *text, uint64_t now_ns);

/* Hands over what came since the last time, in order; `dropped` lines came
 * before this one and are lost. [main thread] */
typedef void log_line_fn(void *user, uint32_t level, const char *text,
    uint64_t now_ns, uint32_t dropped);
void log_buffer_drain(struct log_buffer *log, log_line_fn *fn, void *user);

/* A new unit: drained lines are forgotten, the limit starts again. */
void log_buffer_reset(struct log_buffer *log);

#endif
