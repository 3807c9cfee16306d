/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Unit: one testcase at one sweep point, with its known cells. The schedule
 * is a list of units; a worker gets a unit and the cells of it that are
 * wanted.
 *
 * Cells of a unit are numbered: the shapes in order, each row by row, the
 * diagonal of a PAIRS shape included in the numbering but not a cell. */
#ifndef NVBW_UNIT_H
#define NVBW_UNIT_H

#include "fields.h"

/* A parameter's values for this unit, every standard and own parameter of the
 * testcase among them, already checked, each in the spelling of a plan. */
struct unit_param {
    const char *name;
    const char **values;
    uint32_t values_count; /* 1 unless it is a LIST */
};

/* The cells of one metric. */
struct unit_shape {
    const char *metric;
    uint32_t unit, better; /* of the metric: NVBW_UNIT_*, NVBW_HIGHER, ... */
    uint32_t rows, cols;   /* at least 1 each */
    uint32_t pairs;        /* 1: no diagonal */
    uint32_t derived;      /* 1: computed from cells of other metrics */
    const char *row_axis, *col_axis; /* as the metric declares them, or NULL */
    const char **row_labels;         /* rows of them; none for a NULL axis */
    uint32_t row_labels_count;
    const char **col_labels;
    uint32_t col_labels_count;
};

struct unit {
    uint32_t id;                      /* position in the schedule */
    uint32_t suite;                   /* position in plan->suites */
    const char *plugin, *plugin_file; /* descriptor's name; real path */
    const char *testcase;
    const char *sweep; /* "buffer_size=64 MiB" or NULL: what tells it from
                          its sisters */
    uint32_t round;    /* of `repeat` and `duration`, from 0 */
    struct unit_param *params;
    uint32_t params_count;
    uint32_t *gpus; /* positions in facts->gpus: the axis "gpu" */
    uint32_t gpus_count;
    uint32_t *nodes; /* positions in facts->nodes: the axis "numa" */
    uint32_t nodes_count;
    struct unit_shape *shapes;
    uint32_t shapes_count;
    uint32_t open_axes;   /* 1: a text axis awaits the recorded run */
    uint64_t timeout_ns;  /* per cell */
    const char *required; /* "yes", "if_possible" or "no" */
    uint32_t confirm;
    const char *pass_rule; /* "k of n" or NULL: majority */
    const char *isolate;   /* "auto", "run", "plugin" or "testcase" */
    /* Set where it is known before the run that no cell can be measured: all
     * cells end so. */
    uint32_t state;
    const char *reason, *message;
};

extern const struct fields unit_fields;
extern const struct fields unit_param_fields;

struct cell_place {
    uint32_t shape, row, col;
};

/* How many numbers the cells take, diagonals included. */
uint32_t unit_cell_span(const struct unit *unit);
/* How many cells there are. */
uint32_t unit_cell_count(const struct unit *unit);
/* 1 and the place, or 0 for a diagonal or a number out of range. */
int unit_cell_at(
    const struct unit *unit, uint32_t number, struct cell_place *out_place);
/* The number, or -1 where the unit has no such cell. */
int32_t unit_cell_number(
    const struct unit *unit, const char *metric, uint32_t row, uint32_t col);
const struct unit_param *unit_param(const struct unit *unit, const char *name);

/* "ce_h2d/host_to_device_memcpy_ce" */
char *unit_title(const struct unit *unit, struct arena *arena);

#endif
