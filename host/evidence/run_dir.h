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
 *   manifest.sha256 sums of all of these, for `verify`
 *   lock            locked while a process writes; not in the manifest  */
#ifndef NVBW_RUN_DIR_H
#define NVBW_RUN_DIR_H

#include "evidence.h"

struct run_dir {
    char path[4096];
    int lock_fd;
};

/* Expands %h (host), %t (20261129T231500Z) and %%, makes the directory
 * (parents too) and locks it. Fails where it exists and holds a run; a name
 * with %t then gets "-2", "-3", ... instead. */
int32_t run_dir_create(
    const char *pattern, struct run_dir *out, struct error *err);
/* Opens and locks an existing run for resume. */
int32_t run_dir_open(const char *path, struct run_dir *out, struct error *err);
/* Writes manifest.sha256. (manifest.c) */
int32_t run_dir_seal(const struct run_dir *dir, struct error *err);
/* Takes back that the run is finished: no summary.ndjson once this returns,
 * not after a loss of power either where the file system can promise it.
 * Before more is written to the journal. */
int32_t run_dir_reopen(const struct run_dir *dir, struct error *err);
/* Compares a run directory with its manifest. *out_bad lists "name: why" of
 * each file that changed, is missing or is not in the manifest; no entry:
 * all is as it was. No lock is needed. (manifest.c) */
int32_t run_dir_verify(const char *path, struct arena *arena,
    const char ***out_bad, uint32_t *out_count, struct error *err);
/* Gives the lock back. */
void run_dir_close(struct run_dir *dir);

/* Writes bytes to path through a temporary file beside it, fsync and rename:
 * the name never shows half a file. A device, pipe or socket is written to as
 * it is, and so is any name under /dev; another symbolic link is refused. A
 * new file gets mode 0644, an old one keeps its own. (atomic_file.c) */
int32_t file_write_atomic(
    const char *path, const void *bytes, size_t length, struct error *err);
/* Whether that would succeed as far as can be told before: what the name is,
 * and whether its folder is there and can be written to. A folder that comes
 * to be with run_dir, as run_dir_create is given it, need not be there yet;
 * NULL: none will be made. (atomic_file.c) */
int32_t file_check_atomic(
    const char *path, const char *run_dir, struct error *err);

#endif
