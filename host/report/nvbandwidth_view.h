/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A run as nvbandwidth would show it: testcases, matrices, headings and
 * figures, shared by its text and its JSON format. */
#ifndef NVBW_NVBANDWIDTH_VIEW_H
#define NVBW_NVBANDWIDTH_VIEW_H

#include "report.h"

enum { NVBANDWIDTH_HEADING_BYTES = 192 };

/* How the plan wants the format. */
struct nvbandwidth_style {
    int is_0_8, mean, verbose, perf;
};
struct nvbandwidth_style nvbandwidth_style_of(const struct plan *plan);
/* What that nvbandwidth says of its version: "v0.8", "v0.10.0". */
const char *nvbandwidth_style_version(const struct nvbandwidth_style *style);

enum nvbandwidth_status {
    NVBANDWIDTH_PASSED = 0,
    NVBANDWIDTH_WAIVED,
    NVBANDWIDTH_NOT_FOUND,
    NVBANDWIDTH_ERROR
};

/* A unit of the run. Zeroed before the first. */
struct nvbandwidth_case {
    uint32_t next_unit, next_verdict;
    const char *name; /* of the testcase, also where its plugin is not there */
    const struct unit *unit;
    const struct verdict *list; /* its cells */
    uint32_t count;
    enum nvbandwidth_status status;
    const struct verdict *why; /* the gravest cell without a figure, or NULL */
    uint32_t why_count;        /* cells like it */
};
/* Goes on to the next; 0 after the last. */
int nvbandwidth_case_next(
    const struct report_input *input, struct nvbandwidth_case *at);

/* A matrix of a testcase. */
struct nvbandwidth_matrix {
    char heading[NVBANDWIDTH_HEADING_BYTES];
    char suffix[64]; /* of the key that stands behind SUM */
    const struct unit_shape *shape;
    int is_latency;
    int is_turned; /* a single column, which nvbandwidth shows as a row */
    uint32_t rows, cols;
    const char *row_axis, *col_axis;
};
/* Fills the last five from a shape. */
void nvbandwidth_matrix_lay_out(
    struct nvbandwidth_matrix *matrix, const struct unit_shape *shape);
/* The number-th; 0 past the last. A testcase that nvbandwidth does not have
 * shows every metric under a heading of ours. */
int nvbandwidth_matrix_at(const struct nvbandwidth_case *of, uint32_t number,
    struct nvbandwidth_matrix *out);

/* The cell, or NULL where it has no figure. */
const struct verdict *nvbandwidth_cell(const struct nvbandwidth_case *of,
    const struct nvbandwidth_matrix *matrix, uint32_t row, uint32_t col);
/* Its figure as printed: in GB/s or ns. */
double nvbandwidth_figure(const struct nvbandwidth_case *of,
    const struct nvbandwidth_matrix *matrix, const struct verdict *cell,
    const struct nvbandwidth_style *style);

/* Over the cells with a figure; a matrix without any has count 0. */
struct nvbandwidth_sums {
    double sum, least, most, variation; /* variation: from sample to sample */
    uint32_t count;
};
struct nvbandwidth_sums nvbandwidth_sums_of(const struct nvbandwidth_case *of,
    const struct nvbandwidth_matrix *matrix,
    const struct nvbandwidth_style *style);

/* What a row or column is called: the number that CUDA gives a GPU, or the
 * place. */
int32_t nvbandwidth_label(const struct report_input *input,
    const struct nvbandwidth_case *of, const char *axis, uint32_t at);

/* "NVIDIA H200 (00000000:db:00)" */
void nvbandwidth_device(
    const struct gpu_facts *gpu, char *out, size_t out_bytes);

/* "skip (too_few_devices): needs 2 GPUs" of case->why. */
void nvbandwidth_why(
    const struct nvbandwidth_case *of, char *out, size_t out_bytes);

#endif
