/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "fleet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fleet_parts.h"
#include "stats.h"

int fleet_compare_names(const char *one, const char *other)
{
    if (one == NULL || other == NULL) {
        return (one != NULL) - (other != NULL);
    }

    const int by_number = strverscmp(one, other);

    return by_number != 0 ? by_number : strcmp(one, other);
}

int fleet_is_same_host(const char *one, const char *other)
{
    const size_t length = strcspn(one, ".");

    if (strcmp(one, other) == 0) {
        return 1;
    }
    return length == strcspn(other, ".") && strncmp(one, other, length) == 0 &&
           (one[length] == '\0' || other[length] == '\0');
}

/* ---- nodes in order ---- */

/* By host, then the newest first; what is equal in all of it is one run, of
 * which the path that comes first in the alphabet stays. */
static int compare_nodes(const void *left, const void *right)
{
    const struct fleet_node *const one = left;
    const struct fleet_node *const other = right;
    int order = fleet_compare_names(one->host, other->host);

    if (order == 0) {
        order = fleet_compare_names(other->started, one->started);
    }
    if (order == 0) {
        order = fleet_compare_names(one->run_id, other->run_id);
    }
    return order != 0 ? order : fleet_compare_names(one->path, other->path);
}

static int is_same(const char *one, const char *other)
{
    return one != NULL && other != NULL && strcmp(one, other) == 0;
}

static int is_same_run(
    const struct fleet_node *one, const struct fleet_node *other)
{
    return is_same(one->host, other->host) &&
           is_same(one->run_id, other->run_id);
}

/* Sorts, takes each run once and marks what a newer run stands for. */
static int32_t order_nodes(
    struct fleet *fleet, uint32_t **out_places, struct error *err)
{
    const uint32_t added = fleet->nodes_count;
    uint32_t *const places =
        arena_alloc(fleet->arena, (size_t)added + 1, sizeof *places);
    uint32_t kept = 0;

    FAIL_IF(places == NULL, err, NVBW_E_SYSTEM, "no memory for the fleet");
    if (added > 0) {
        qsort(fleet->nodes, added, sizeof *fleet->nodes, compare_nodes);
    }
    for (uint32_t i = 0; i < added; i++) {
        struct fleet_node *const node = &fleet->nodes[i];

        places[node->number] = UINT32_MAX;
        if (kept > 0 && is_same_run(&fleet->nodes[kept - 1], node)) {
            continue;
        }
        node->superseded =
            kept > 0 && is_same(fleet->nodes[kept - 1].host, node->host);
        if (!node->superseded) {
            places[node->number] = kept;
            fleet->counted++;
        }
        fleet->nodes[kept++] = *node;
    }
    fleet->nodes_count = kept;
    *out_places = places;
    return NVBW_OK;
}

/* ---- cells in order ---- */

static int compare_figures(const void *left, const void *right)
{
    const struct fleet_figure *const one = left;
    const struct fleet_figure *const other = right;

    return (one->node > other->node) - (one->node < other->node);
}

/* Only figures of nodes that count, by their places. */
static void order_figures(struct fleet_cell *cell, const uint32_t *places)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < cell->figures_count; i++) {
        struct fleet_figure figure = cell->figures[i];

        figure.node = places[figure.node];
        if (figure.node != UINT32_MAX) {
            cell->figures[kept++] = figure;
        }
    }
    cell->figures_count = kept;
    qsort(cell->figures, kept, sizeof *cell->figures, compare_figures);
}

static int compare_cells(const void *left, const void *right)
{
    const struct fleet_cell *const one = left;
    const struct fleet_cell *const other = right;
    const char *const pairs[][2] = { { one->gpu_model, other->gpu_model },
        { one->plugin, other->plugin }, { one->testcase, other->testcase },
        { one->sweep, other->sweep }, { one->metric, other->metric },
        { one->place, other->place } };

    if (one->gpus != other->gpus) {
        return one->gpus < other->gpus ? -1 : 1;
    }
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const int order = fleet_compare_names(pairs[i][0], pairs[i][1]);

        if (order != 0) {
            return order;
        }
    }
    return one->measure != other->measure
               ? (one->measure < other->measure ? -1 : 1)
               : (one->better > other->better) - (one->better < other->better);
}

static int is_worse(const struct fleet_cell *cell, double figure, double than)
{
    return cell->better == NVBW_LOWER ? figure > than : figure < than;
}

/* values has room for all figures, twice. */
static void sum_up_cell(struct fleet_cell *cell, double *values)
{
    cell->median = NAN;
    cell->low = INFINITY;
    cell->high = -INFINITY;
    cell->scatter = NAN;
    cell->worst = UINT32_MAX;
    for (uint32_t i = 0; i < cell->figures_count; i++) {
        const double figure = cell->figures[i].figure;

        if (isnan(figure)) {
            continue;
        }
        if (cell->count == 0 ||
            is_worse(cell, figure,
                cell->better == NVBW_LOWER ? cell->high : cell->low)) {
            cell->worst = cell->figures[i].node;
        }
        values[cell->count++] = figure;
        cell->low = fmin(cell->low, figure);
        cell->high = fmax(cell->high, figure);
    }
    if (cell->count == 0) {
        cell->low = NAN;
        cell->high = NAN;
        return;
    }
    cell->median = stats_quantile(values, cell->count, 0.5);
    for (uint32_t i = 0; i < cell->count; i++) {
        values[i] = fabs(values[i] / cell->median - 1.0);
    }
    cell->scatter = stats_quantile(values, cell->count, 0.5);
}

static int32_t order_cells(
    struct fleet *fleet, const uint32_t *places, struct error *err)
{
    uint32_t most = 0;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < fleet->cells_count; i++) {
        order_figures(&fleet->cells[i], places);
        if (fleet->cells[i].figures_count > most) {
            most = fleet->cells[i].figures_count;
        }
        if (fleet->cells[i].figures_count > 0) {
            fleet->cells[kept++] = fleet->cells[i];
        }
    }

    double *const values = calloc((size_t)most + 1, sizeof *values);

    FAIL_IF(values == NULL, err, NVBW_E_SYSTEM, "no memory for the fleet");
    fleet->cells_count = kept;
    if (kept > 0) {
        qsort(fleet->cells, kept, sizeof *fleet->cells, compare_cells);
    }
    for (uint32_t i = 0; i < kept; i++) {
        sum_up_cell(&fleet->cells[i], values);
    }
    free(values);
    return NVBW_OK;
}

/* ---- outliers and what did not pass ---- */

/* Relative; a scatter below is no measure of anything. */
static const double SCATTER_LEAST = 0.001;
/* The median of distances is so much of a deviation, for normal figures. */
static const double MEDIAN_DISTANCE = 0.6745;

static int look_at_figure(const struct fleet_cell *cell,
    const struct fleet_figure *at, struct fleet_outlier *out)
{
    if (cell->count < FLEET_NODES_LEAST || isnan(at->figure)) {
        return 0;
    }
    out->node = at->node;
    out->figure = at->figure;
    out->gain = cell->better == NVBW_LOWER ? cell->median / at->figure - 1.0
                                           : at->figure / cell->median - 1.0;
    out->z = MEDIAN_DISTANCE * (at->figure / cell->median - 1.0) /
             fmax(cell->scatter, SCATTER_LEAST);
    return out->gain < -fmax(FLEET_WORSE, cell->reach) &&
           fabs(out->z) > FLEET_Z;
}

static int is_bad(uint32_t state)
{
    return state != STATE_PASS && state != STATE_WARN &&
           state != STATE_UNCHECKED && state != STATE_SKIP;
}

static int32_t look_at_cell(
    struct fleet *fleet, uint32_t number, struct error *err)
{
    const struct fleet_cell *const cell = &fleet->cells[number];

    for (uint32_t i = 0; i < cell->figures_count; i++) {
        const struct fleet_figure *const at = &cell->figures[i];
        struct fleet_outlier outlier = { .cell = number };

        if (look_at_figure(cell, at, &outlier)) {
            fleet->outliers = arena_append(fleet->arena, fleet->outliers,
                &fleet->outliers_count, sizeof outlier);
            FAIL_IF(fleet->outliers == NULL, err, NVBW_E_SYSTEM,
                "no memory for the fleet's outliers");
            fleet->outliers[fleet->outliers_count - 1] = outlier;
        }
        if (is_bad(at->state)) {
            fleet->bad = arena_append(fleet->arena, fleet->bad,
                &fleet->bad_count, sizeof *fleet->bad);
            FAIL_IF(fleet->bad == NULL, err, NVBW_E_SYSTEM,
                "no memory for the fleet's failures");
            fleet->bad[fleet->bad_count - 1] =
                (struct fleet_bad){ at->node, number, at->state, at->figure };
        }
    }
    return NVBW_OK;
}

/* By node, the worst first. */
static int compare_outliers(const void *left, const void *right)
{
    const struct fleet_outlier *const one = left;
    const struct fleet_outlier *const other = right;

    if (one->node != other->node) {
        return one->node < other->node ? -1 : 1;
    }
    if (one->gain != other->gain) {
        return one->gain < other->gain ? -1 : 1;
    }
    return (one->cell > other->cell) - (one->cell < other->cell);
}

static int compare_bad(const void *left, const void *right)
{
    const struct fleet_bad *const one = left;
    const struct fleet_bad *const other = right;

    if (one->node != other->node) {
        return one->node < other->node ? -1 : 1;
    }
    return (one->cell > other->cell) - (one->cell < other->cell);
}

static void point_from_nodes(struct fleet *fleet)
{
    for (uint32_t i = 0; i < fleet->outliers_count; i++) {
        struct fleet_node *const node = &fleet->nodes[fleet->outliers[i].node];

        if (node->outliers_count++ == 0) {
            node->first_outlier = i;
            fleet->outlier_nodes++;
        }
    }
    for (uint32_t i = 0; i < fleet->bad_count; i++) {
        struct fleet_node *const node = &fleet->nodes[fleet->bad[i].node];

        if (node->bad_count++ == 0) {
            node->first_bad = i;
        }
    }
}

static int32_t find_outliers(struct fleet *fleet, struct error *err)
{
    for (uint32_t i = 0; i < fleet->cells_count; i++) {
        TRY(look_at_cell(fleet, i, err));
    }
    if (fleet->outliers_count > 0) {
        qsort(fleet->outliers, fleet->outliers_count, sizeof *fleet->outliers,
            compare_outliers);
    }
    if (fleet->bad_count > 0) {
        qsort(fleet->bad, fleet->bad_count, sizeof *fleet->bad, compare_bad);
    }
    point_from_nodes(fleet);
    return NVBW_OK;
}

/* ---- all ---- */

static int compare_troubles(const void *left, const void *right)
{
    const struct fleet_trouble *const one = left;
    const struct fleet_trouble *const other = right;
    const int order = fleet_compare_names(one->path, other->path);

    return order != 0 ? order : fleet_compare_names(one->why, other->why);
}

static void judge_fleet(struct fleet *fleet)
{
    fleet->exit_code = fleet->nodes_count == 0 ||
                               fleet->troubles_count + fleet->missing_count > 0
                           ? EXIT_INCOMPLETE
                           : EXIT_PASSED;
    for (uint32_t i = 0; i < fleet->nodes_count; i++) {
        const struct fleet_node *const node = &fleet->nodes[i];

        if (!node->superseded) {
            fleet->by_exit[node->exit_code]++;
            fleet->exit_code = outcome_worse(fleet->exit_code, node->exit_code);
        }
    }
}

int32_t fleet_finish(struct fleet *fleet, const char *const *expected,
    uint32_t expected_count, struct error *err)
{
    uint32_t *places = NULL;

    TRY(order_nodes(fleet, &places, err));
    TRY(order_cells(fleet, places, err));
    TRY(find_outliers(fleet, err));
    TRY(fleet_find_differences(fleet, err));
    TRY(fleet_find_missing(fleet, expected, expected_count, err));
    if (fleet->troubles_count > 0) {
        qsort(fleet->troubles, fleet->troubles_count, sizeof *fleet->troubles,
            compare_troubles);
    }
    judge_fleet(fleet);
    return NVBW_OK;
}
