/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What the cells of a unit are called, and one metric of it as a matrix. */
#ifndef NVBW_REPORT_MATRIX_H
#define NVBW_REPORT_MATRIX_H

#include "report.h"

enum { LABEL_BYTES = 64 };

/* "GPU 3" (the machine's number), "node 0", "rank 2", "64 MiB"; "" for an
 * axis that is not there. is_col: 0 for a row. */
void report_label(const struct facts *facts, const struct unit *unit,
    const struct unit_shape *shape, int is_col, uint32_t at,
    char out[LABEL_BYTES]);
/* Row and column together: "GPU 0 > GPU 1", "GPU 0", or "" for a single
 * figure. */
void report_cell_label(const struct facts *facts, const struct unit *unit,
    uint32_t cell, char out[2 * LABEL_BYTES + 4]);

/* The same of a verdict. Where ranks draw partners, and columns count the
 * draws, the partner is named: "rank 0 > #3 (with rank 2)". */
void report_verdict_label(const struct facts *facts, const struct unit *unit,
    const struct verdict *verdict, char out[2 * LABEL_BYTES + 4]);

/* How figures of a metric's unit are shown in a table. */
struct report_scale {
    uint32_t unit;
    const char *word; /* "GB/s" */
    double divisor;
    int decimals;
};
const struct report_scale *report_scale_of(uint32_t unit);

/* One metric: the verdicts of a shape, row by row. */
struct report_shape {
    const struct unit *unit;
    const struct unit_shape *shape;
    const struct verdict *list;
    uint32_t count;
};
/* The verdict at a place; NULL on a diagonal. */
const struct verdict *report_shape_at(
    const struct report_shape *of, uint32_t row, uint32_t col);
/* The figure farthest below its limit, or least good; NULL: no figure. */
const struct verdict *report_shape_worst(const struct report_shape *of);

/* Adds the labelled matrix in blocks of columns that fit. A matrix with more
 * than 32 rows or columns, or a row of more than 144, is left to its summary.
 */
void report_matrix_add(const struct report_input *input,
    const struct report_shape *of, struct strbuf *out);

#endif
