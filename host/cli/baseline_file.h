/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Baselines: the figures of a run that later ones are held against, in the
 * journal's form with its plan and facts. What reads a journal reads them. */
#ifndef NVBW_BASELINE_FILE_H
#define NVBW_BASELINE_FILE_H

#include "judge.h"
#include "run_dir.h"

/* Journals and baselines of up to a gigabyte are read. */
#define BASELINE_LIMIT_BYTES ((size_t)1 << 30)

/* Reads a run directory or a file. */
int32_t baseline_read(const char *path, struct arena *arena,
    struct evidence *out, struct error *err);

/* The text of a baseline: of all measured cells, or of those whose verdict is
 * sound where verdicts are given. *out_cells are in it, *out_left are not. */
int32_t baseline_format(const struct evidence *evidence,
    const struct verdicts *verdicts, struct strbuf *out, uint32_t *out_cells,
    uint32_t *out_left, struct error *err);

/* Its lines before those of cells. */
int32_t baseline_format_head(
    const struct evidence *evidence, struct strbuf *out, struct error *err);

/* 1 unless the cell failed, was doubtful or impossible, which would make a bad
 * measure. */
int baseline_is_sound(const struct verdict *verdict);

/* Copies the baseline of evidence, where it has one, into a run directory, so
 * that the run is judged again without the file. */
int32_t baseline_keep(const struct evidence *evidence,
    const struct run_dir *dir, struct arena *arena, struct error *err);

/* Gives a kept run its baseline back, where its plan names one. */
int32_t baseline_fetch(const char *run_dir, struct evidence *evidence,
    struct arena *arena, struct error *err);

#endif
