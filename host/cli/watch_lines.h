/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* --watch: a line per GPU and second on stderr, of what telemetry read last.
 * A table of 79 columns whose heading comes again every so often. */
#ifndef NVBW_WATCH_LINES_H
#define NVBW_WATCH_LINES_H

#include "facts.h"
#include "strbuf.h"
#include "telemetry.h"

enum { WATCH_GPUS = 1024, WATCH_NOTE_BYTES = 80 };

/* One GPU since its last line. */
struct watch_line {
    struct gpu_reading reading; /* the last, without its processes */
    struct gpu_reading told;    /* the one of the line before */
    uint32_t is_new;
    double in, out; /* bytes per second over PCIe, NaN: not known */
    double counted_ns, counted_in, counted_out; /* where they were counted */
    char other[WATCH_NOTE_BYTES];
};

struct watch_lines {
    const struct facts *facts;
    struct watch_line *lines; /* NULL: nothing is printed */
    uint32_t count;
    uint32_t printed; /* lines since the heading */
    uint64_t due_ns;
    uint32_t has_heading; /* 1: it was printed before */
};

/* Without memory nothing is printed. */
void watch_lines_open(struct watch_lines *lines, const struct facts *facts);
void watch_lines_close(struct watch_lines *lines);

void watch_lines_take(
    struct watch_lines *lines, const struct gpu_reading *reading);
/* Once a second: what is to be printed, newlines included; else nothing. A
 * heading is repeated only where `repeats`. Lines are no longer than
 * columns. */
void watch_lines_add(struct watch_lines *lines, uint64_t now_ns,
    uint32_t columns, int repeats, struct strbuf *out);

#endif
