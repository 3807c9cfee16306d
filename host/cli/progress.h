/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Live progress on stderr: one line that is rewritten on a terminal, a line
 * per unit elsewhere, every cell with --verbose. */
#ifndef NVBW_PROGRESS_H
#define NVBW_PROGRESS_H

#include "conduct.h"
#include "eta.h"
#include "watch_lines.h"

struct progress {
    const struct evidence *evidence;
    int terminal, quiet, verbose;
    uint32_t cells_total, cells_done, units_total;
    struct eta eta;
    uint64_t started_ns;
    char line[512];           /* on the terminal now */
    struct watch_lines lines; /* of --watch; closed: none */
};

void progress_open(struct progress *progress, const struct evidence *evidence,
    int quiet, int verbose);
/* From here on a line per GPU and second as well. */
void progress_add_lines(struct progress *progress);
/* The watch to hand to conduct_run; points into progress. */
struct conduct_watch progress_watch(struct progress *progress);
void progress_close(struct progress *progress);

#endif
