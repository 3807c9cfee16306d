/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Efficiencies: how much of a link each class of traffic reaches on a healthy
 * machine, from files that name the GPUs they hold for and the source of each
 * row. The files that were used stand in the journal, so a run is judged again
 * without them. */
#ifndef NVBW_EFFICIENCY_H
#define NVBW_EFFICIENCY_H

#include "plan.h"
#include "traffic.h"

/* How a row came about. */
enum efficiency_kind {
    EFFICIENCY_MEASURED = 1, /* by this project */
    EFFICIENCY_PUBLISHED,    /* by others; the source says where */
    EFFICIENCY_ESTIMATE      /* from something similar */
};

struct efficiency_row {
    struct traffic traffic;
    double efficiency; /* of the link's payload, of a healthy machine */
    double spread;     /* seen among healthy cells, relative; NaN: unknown */
    uint32_t kind;
    const char *source;
    struct origin origin;
};

struct efficiency_file {
    const char *file, *sha256;
    const char *name;  /* what it is about */
    const char **gpus; /* globs over names of GPUs */
    uint32_t gpus_count;
    uint32_t from_plan; /* 1: the plan names it, so it comes before ours */
    struct efficiency_row *rows;
    uint32_t rows_count;
};
extern const struct fields efficiency_file_fields;
extern const struct name efficiency_kinds[];

struct efficiencies {
    struct efficiency_file *list;
    uint32_t count;
};

/* The row that holds for this class on a GPU of this name: of the plan's files
 * first, then of the file whose glob has the most literal characters, then of
 * the earlier file and row. NULL: none. */
const struct efficiency_row *efficiency_find(const struct efficiency_file *list,
    uint32_t count, const char *gpu, const struct traffic *traffic);

/* 1 if the file is for this GPU. */
int efficiency_matches(const struct efficiency_file *file, const char *gpu);

/* Reads the files that the plan's key "efficiency" names, found as plans are,
 * and all of data_dir/efficiency. Mistakes go to problems with file and line.
 * Negative only without memory. (efficiency_load.c) */
int32_t efficiency_load(const struct plan *plan, const char *data_dir,
    struct arena *arena, struct efficiencies *out, struct problems *problems,
    struct error *err);

#endif
