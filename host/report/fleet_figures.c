/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include <math.h>

#include "fleet_report.h"

static int is_same_metric(
    const struct fleet_cell *one, const struct fleet_cell *other)
{
    return fleet_compare_names(one->plugin, other->plugin) == 0 &&
           fleet_compare_names(one->testcase, other->testcase) == 0 &&
           fleet_compare_names(one->sweep, other->sweep) == 0 &&
           fleet_compare_names(one->metric, other->metric) == 0 &&
           fleet_compare_names(one->gpu_model, other->gpu_model) == 0 &&
           one->gpus == other->gpus && one->measure == other->measure &&
           one->better == other->better;
}

static int is_same_kind(
    const struct fleet_cell *one, const struct fleet_cell *other)
{
    return one->gpus == other->gpus &&
           fleet_compare_names(one->gpu_model, other->gpu_model) == 0;
}

/* Of medians the least and most, and the worst figure. */
static void take_cell(struct fleet_figures *at, const struct fleet_cell *cell)
{
    const int is_lower = cell->better == NVBW_LOWER;
    const double figure = is_lower ? cell->high : cell->low;

    if (cell->count == 0) {
        return;
    }
    at->count += cell->count;
    at->low = fmin(at->low, cell->median);
    at->high = fmax(at->high, cell->median);
    if (at->worst == NULL ||
        (is_lower ? figure > at->worst_figure : figure < at->worst_figure)) {
        at->worst = cell;
        at->worst_figure = figure;
    }
}

/* Cells of one metric stand beside each other. */
int fleet_figures_next(const struct fleet *fleet, struct fleet_figures *at)
{
    const struct fleet_cell *const before = at->cell;
    const uint32_t first = at->end;

    *at = (struct fleet_figures){
        .end = first, .low = INFINITY, .high = -INFINITY, .worst_figure = NAN
    };
    if (first >= fleet->cells_count) {
        return 0;
    }
    at->cell = &fleet->cells[first];
    at->is_first_of_kind = before == NULL || !is_same_kind(before, at->cell);
    while (at->end < fleet->cells_count &&
           is_same_metric(at->cell, &fleet->cells[at->end])) {
        take_cell(at, &fleet->cells[at->end]);
        at->end++;
    }
    return 1;
}
