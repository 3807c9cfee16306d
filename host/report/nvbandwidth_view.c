/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "nvbandwidth_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report_matrix.h"

/* ---- Style --------------------------------------------------------------- */

static int is_set(const struct plan *plan, const char *name, const char *text)
{
    for (uint32_t i = plan->nvbandwidth_count; i > 0; i--) {
        const struct plan_value *const value = &plan->nvbandwidth[i - 1];

        if (strcmp(value->name, name) == 0) {
            return value->texts_count == 1 &&
                   strcmp(value->texts[0], text) == 0;
        }
    }
    return 0;
}

struct nvbandwidth_style nvbandwidth_style_of(const struct plan *plan)
{
    return (struct nvbandwidth_style){
        .is_0_8 = is_set(plan, "version", "0.8"),
        .mean = is_set(plan, "mean", "true"),
        .verbose = is_set(plan, "verbose", "true"),
        .perf = is_set(plan, "perf", "true"),
    };
}

const char *nvbandwidth_style_version(const struct nvbandwidth_style *style)
{
    return style->is_0_8 ? "v0.8" : "v0.10.0";
}

/* ---- Testcases ----------------------------------------------------------- */

/* How grave it is that a cell has no figure that counts; 0: it has one. */
static int gravity(const struct verdict *verdict)
{
    static const int of_state[STATE_COUNT] = {
        [STATE_SKIP] = 1,
        [STATE_FAIL] = 2,
        [STATE_NOT_RUN] = 3,
        [STATE_CANCELLED] = 4,
        [STATE_BLOCKED] = 5,
        [STATE_INVALID] = 6,
        [STATE_TIMEOUT] = 7,
        [STATE_CRASH] = 8,
        [STATE_ERROR] = 9,
        [STATE_MISMATCH] = 10,
    };

    return verdict->state < STATE_COUNT ? of_state[verdict->state] : 0;
}

static void find_why(struct nvbandwidth_case *at)
{
    at->why = NULL;
    at->why_count = 0;
    for (uint32_t i = 0; i < at->count; i++) {
        const int grave = gravity(&at->list[i]);
        const int before = at->why == NULL ? 0 : gravity(at->why);

        if (grave > before) {
            at->why = &at->list[i];
            at->why_count = 0;
        }
        at->why_count += grave > 0 && grave == gravity(at->why) ? 1 : 0;
    }
}

static enum nvbandwidth_status status_of(const struct nvbandwidth_case *at)
{
    if (at->why == NULL) {
        return NVBANDWIDTH_PASSED;
    }
    if (at->why->reason != NULL && strcmp(at->why->reason, "not_found") == 0) {
        return NVBANDWIDTH_NOT_FOUND;
    }
    if (at->why->state != STATE_SKIP) {
        return NVBANDWIDTH_ERROR;
    }
    return at->why_count == at->count ? NVBANDWIDTH_WAIVED : NVBANDWIDTH_PASSED;
}

/* The placeholder of a plugin that is not there has no name of its own. */
static const char *name_of_unit(
    const struct evidence *evidence, const struct unit *unit)
{
    if (strcmp(unit->testcase, "*") != 0) {
        return unit->testcase;
    }
    if (unit->suite < evidence->plan.suites_count &&
        evidence->plan.suites[unit->suite].tests_count == 1) {
        return evidence->plan.suites[unit->suite].tests[0];
    }
    return unit->plugin;
}

int nvbandwidth_case_next(
    const struct report_input *input, struct nvbandwidth_case *at)
{
    const struct evidence *const evidence = input->evidence;
    const struct verdicts *const verdicts = input->verdicts;

    if (at->next_unit >= evidence->units_count) {
        return 0;
    }

    const uint32_t number = at->next_unit++;

    at->unit = &evidence->units[number];
    at->name = name_of_unit(evidence, at->unit);
    at->list = verdicts->list + at->next_verdict;
    at->count = 0;
    while (at->next_verdict < verdicts->count &&
           verdicts->list[at->next_verdict].unit == number) {
        at->next_verdict++;
        at->count++;
    }
    find_why(at);
    at->status = status_of(at);
    return 1;
}

void nvbandwidth_why(
    const struct nvbandwidth_case *of, char *out, size_t out_bytes)
{
    const struct verdict *const why = of->why;

    out[0] = '\0';
    if (why != NULL) {
        snprintf(out, out_bytes, "%s (%s)%s%s",
            name_of(state_names, why->state),
            why->reason == NULL ? "-" : why->reason,
            why->message == NULL ? "" : ": ",
            why->message == NULL ? "" : why->message);
    }
}

/* ---- Matrices ------------------------------------------------------------ */

void nvbandwidth_matrix_lay_out(
    struct nvbandwidth_matrix *matrix, const struct unit_shape *shape)
{
    const int is_turned = shape->cols == 1 && shape->rows > 1;

    matrix->shape = shape;
    matrix->is_turned = is_turned;
    matrix->rows = is_turned ? shape->cols : shape->rows;
    matrix->cols = is_turned ? shape->rows : shape->cols;
    matrix->row_axis = is_turned ? shape->col_axis : shape->row_axis;
    matrix->col_axis = is_turned ? shape->row_axis : shape->col_axis;
}

/* ---- Figures ------------------------------------------------------------- */

static const struct verdict *find_cell(
    const struct nvbandwidth_case *of, uint32_t number)
{
    uint32_t first = 0;
    uint32_t end = of->count;

    while (first < end) {
        const uint32_t middle = first + (end - first) / 2;

        if (of->list[middle].cell == number) {
            return &of->list[middle];
        }
        if (of->list[middle].cell < number) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return NULL;
}

const struct verdict *nvbandwidth_cell(const struct nvbandwidth_case *of,
    const struct nvbandwidth_matrix *matrix, uint32_t row, uint32_t col)
{
    const int32_t number =
        matrix->is_turned
            ? unit_cell_number(of->unit, matrix->shape->metric, col, row)
            : unit_cell_number(of->unit, matrix->shape->metric, row, col);
    const struct verdict *const cell =
        number < 0 ? NULL : find_cell(of, (uint32_t)number);

    if (cell == NULL || isnan(cell->figure) ||
        (gravity(cell) != 0 && cell->state != STATE_FAIL)) {
        return NULL;
    }
    return cell;
}

static double figure_of(
    const struct verdict *cell, const struct nvbandwidth_style *style)
{
    return style->mean ? cell->stats.mean : cell->figure;
}

/* The rates of both ways added up, which is what nvbandwidth calls the total;
 * ours, over the time that both took together, where one has no figure. */
static double total_of(const struct nvbandwidth_case *of,
    const struct verdict *total, const struct nvbandwidth_style *style)
{
    static const char *const ways[] = { "forward", "reverse" };
    double sum = 0.0;

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const int32_t number =
            unit_cell_number(of->unit, ways[i], total->row, total->col);
        const struct verdict *const way =
            number < 0 ? NULL : find_cell(of, (uint32_t)number);

        sum += way == NULL ? NAN : figure_of(way, style);
    }
    return isnan(sum) ? figure_of(total, style) : sum;
}

double nvbandwidth_figure(const struct nvbandwidth_case *of,
    const struct nvbandwidth_matrix *matrix, const struct verdict *cell,
    const struct nvbandwidth_style *style)
{
    const double figure = strcmp(matrix->shape->metric, "total") == 0
                              ? total_of(of, cell, style)
                              : figure_of(cell, style);

    return figure / report_scale_of(matrix->shape->unit)->divisor;
}

static double variation_of(const struct verdict *cell)
{
    const double spread = cell->stats.deviation / cell->stats.mean;

    return isfinite(spread) ? spread : 0;
}

static void count_cell(
    struct nvbandwidth_sums *sums, double figure, double variation)
{
    sums->least =
        sums->count == 0 || figure < sums->least ? figure : sums->least;
    sums->most = sums->count == 0 || figure > sums->most ? figure : sums->most;
    sums->sum += figure;
    sums->variation += variation;
    sums->count++;
}

struct nvbandwidth_sums nvbandwidth_sums_of(const struct nvbandwidth_case *of,
    const struct nvbandwidth_matrix *matrix,
    const struct nvbandwidth_style *style)
{
    struct nvbandwidth_sums sums = { 0 };

    for (uint32_t row = 0; row < matrix->rows; row++) {
        for (uint32_t col = 0; col < matrix->cols; col++) {
            const struct verdict *const cell =
                nvbandwidth_cell(of, matrix, row, col);

            if (cell != NULL) {
                count_cell(&sums, nvbandwidth_figure(of, matrix, cell, style),
                    variation_of(cell));
            }
        }
    }
    sums.variation /= sums.count == 0 ? 1 : sums.count;
    return sums;
}

/* ---- Labels -------------------------------------------------------------- */

int32_t nvbandwidth_label(const struct report_input *input,
    const struct nvbandwidth_case *of, const char *axis, uint32_t at)
{
    const struct facts *const facts = &input->evidence->facts;

    if (axis != NULL && strcmp(axis, "gpu") == 0 && at < of->unit->gpus_count &&
        of->unit->gpus[at] < facts->gpus_count &&
        facts->gpus[of->unit->gpus[at]].device >= 0) {
        return facts->gpus[of->unit->gpus[at]].device;
    }
    return (int32_t)at;
}

void nvbandwidth_device(
    const struct gpu_facts *gpu, char *out, size_t out_bytes)
{
    unsigned domain = 0;
    unsigned bus = 0;
    unsigned device = 0;
    const char *const name = gpu->name == NULL ? "unknown" : gpu->name;

    if (gpu->pci == NULL ||
        sscanf(gpu->pci, "%x:%x:%x", &domain, &bus, &device) != 3) {
        snprintf(out, out_bytes, "%s", name);
        return;
    }
    snprintf(out, out_bytes, "%s (%08x:%02x:%02x)", name, domain, bus, device);
}
