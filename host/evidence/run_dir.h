/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The run directory: one run, locked while it is written.
 *
 *   journal.ndjson  evidence, append-only
 *   summary.ndjson  header, plan, facts, units and one line per cell with its
 *                   verdict, written at the end
 *   plan/           copies of the plan's files
 *   baseline.ndjson copy of the baseline that was used, if any
 *   workers/        logs of workers, one file each
 *   manifest.sha256 sums of all of these, for `verify`  */
#ifndef NVBW_RUN_DIR_H
#define NVBW_RUN_DIR_H

#include "evidence.h"

struct run_dir {
    char path[4096];
    int lock_fd;
};

/* Expands %h and %t and makes the directory (parents too). Fails where it
 * exists and holds a run. */
int32_t run_dir_create(
    const char *pattern, struct run_dir *out, struct error *err);
/* Opens and locks an existing run for resume. */
int32_t run_dir_open(const char *path, struct run_dir *out, struct error *err);
/* Writes manifest.sha256. */
int32_t run_dir_seal(const struct run_dir *dir, struct error *err);
void run_dir_close(struct run_dir *dir);

/* Writes bytes to path through a temporary file beside it, fsync and rename:
 * the name never shows half a file. */
int32_t file_write_atomic(
    const char *path, const void *bytes, size_t length, struct error *err);

#endif
