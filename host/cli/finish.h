/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What stands at the end of every run, fresh or resumed: judge, summary,
 * reports, manifest, exit code. */
#ifndef NVBW_FINISH_H
#define NVBW_FINISH_H

#include "judge.h"
#include "options.h"
#include "report.h"
#include "run_dir.h"

/* Checks every FORMAT=FILE before anything runs. run_dir: of the run that
 * follows, NULL: none. */
int32_t finish_check_reports(const struct options *options,
    const struct plan *plan, const char *run_dir, struct error *err);

/* Writes the reports asked for by options and plan, and the text to stdout
 * unless a document goes there. */
int32_t finish_reports(const struct options *options,
    const struct evidence *evidence, const struct verdicts *verdicts,
    const char *run_dir, struct error *err);

/* Prints which absolute limits the links belie. */
int32_t finish_doubts(const struct options *options,
    const struct evidence *evidence, const struct verdicts *verdicts,
    struct arena *arena, struct error *err);

/* All of it. Returns the exit code; prints errors. */
int finish_run(const struct options *options, const struct evidence *evidence,
    const struct run_dir *dir, struct arena *arena);

/* Of a run that could not go on, because its journal cannot be written: what
 * it measured until then is judged and reported, and how to go on is said.
 * Nothing where it had not begun. Nothing is written to its directory. */
void finish_broken(const struct options *options, struct evidence *evidence,
    const struct run_dir *dir, struct arena *arena);

#endif
