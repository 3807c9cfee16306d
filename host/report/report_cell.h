/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A cell as the flat formats show it: its names, its labels and one sentence
 * about it. */
#ifndef NVBW_REPORT_CELL_H
#define NVBW_REPORT_CELL_H

#include "report_matrix.h"

struct report_cell {
    const struct verdict *verdict;
    const struct unit *unit;
    const struct unit_shape *shape;
    const char *suite; /* as the plan calls it */
    char row[LABEL_BYTES], col[LABEL_BYTES];
    char label[2 * LABEL_BYTES + 4]; /* row and column together */
};
/* The number-th verdict's. */
void report_cell_of(
    const struct report_input *input, uint32_t number, struct report_cell *out);

/* "GPU 3", "rank 3" in an MPI job, "node 0"; "" where a flow has no such
 * end. */
void report_flow_end(const struct facts *facts, uint32_t memory, int32_t place,
    char out[LABEL_BYTES]);
/* The cell's first counted flow, NULL: none. */
const struct flow_record *report_cell_flow(const struct report_cell *cell);

/* "27.00 GB/s, at least 52.30 GB/s (95 % of expected, plan.cfg:12)", or what
 * the cell says of itself where it has no figure. */
void report_cell_sentence(const struct report_cell *cell, struct strbuf *out);

/* The figure in its heading's unit: "55.44 GB/s". */
void report_figure(uint32_t unit, double value, char *out, size_t size);

/* Why a cell was held to no limit: "no limit", or what it waits for. */
void report_no_limit(const struct verdict *verdict, struct strbuf *out);

/* How long all attempts at the cell took, in seconds; 0: unknown. */
double report_cell_seconds(
    const struct report_input *input, const struct verdict *verdict);

#endif
