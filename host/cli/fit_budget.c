/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "fit_budget.h"

#include <string.h>

#include "quantity.h"
#include "state.h"

const struct cost_model cost_of_cells = {
    .start = 1.0,
    .start_gpu = 0.3,
    .cell = 0.16,
    .peer = 0.12,
    .host = 1.1,
    .latency = 0.25,
    .random = 1.05,
    .per_sample = 0.6,
    .fixed = 0.5,
};

/* ---- what a unit costs ---- */

static int64_t number_of(const struct unit *unit, const char *name)
{
    const struct unit_param *const param = unit_param(unit, name);
    int64_t value = 0;

    if (param == NULL || param->values_count != 1 ||
        quantity_int(param->values[0], &value, NULL) < 0) {
        return 0;
    }
    return value;
}

static int is_set(const struct unit *unit, const char *name, const char *value)
{
    const struct unit_param *const param = unit_param(unit, name);

    return param != NULL && param->values_count == 1 &&
           strcmp(param->values[0], value) == 0;
}

/* In fixed mode samples are part of what was asked for. */
static int is_adaptive(const struct unit *unit)
{
    return is_set(unit, "mode", "adaptive");
}

static int64_t samples_of(const struct unit *unit, uint32_t most)
{
    const int64_t asked =
        number_of(unit, is_adaptive(unit) ? "max_samples" : "samples");

    return most > 0 && is_adaptive(unit) && asked > most ? most : asked;
}

static int is_matrix_of_pairs(const struct unit_shape *shape)
{
    return shape->pairs && shape->rows == shape->cols;
}

static double cells_of(const struct unit_shape *shape, uint32_t pairs)
{
    const double all =
        (double)shape->rows * (shape->cols - (shape->pairs ? 1.0 : 0.0));

    return pairs > 0 && is_matrix_of_pairs(shape) && all > pairs ? pairs : all;
}

static int is_of(const char *axis, const char *name)
{
    return axis != NULL && strcmp(axis, name) == 0;
}

static double cost_of_cell(const struct unit *unit,
    const struct unit_shape *shape, const struct cost_model *model)
{
    if (is_of(shape->row_axis, "numa") || is_of(shape->col_axis, "numa")) {
        return model->host;
    }
    if (shape->unit == NVBW_UNIT_NANOSECONDS) {
        return is_set(unit, "chase", "random") ? model->random : model->latency;
    }
    return shape->pairs ? model->peer : model->cell;
}

/* Metrics of one measurement cost it once: the shape of most cells counts. */
static double cost_of_unit(const struct unit *unit,
    const struct cost_model *model, uint32_t samples, uint32_t pairs)
{
    const double count = (double)samples_of(unit, samples);
    const double share =
        1.0 - model->per_sample + count / FIT_SAMPLES_FULL * model->per_sample;
    double most = 0.0;

    for (uint32_t i = 0; i < unit->shapes_count; i++) {
        const struct unit_shape *const shape = &unit->shapes[i];
        const double cost =
            cells_of(shape, pairs) *
            (is_adaptive(unit) ? cost_of_cell(unit, shape, model) * share
                               : model->fixed * count / FIT_SAMPLES_FIXED);

        most = cost > most ? cost : most;
    }
    return most;
}

double fit_unit_seconds(const struct unit *unit, const struct cost_model *model)
{
    return unit->state == STATE_NONE ? cost_of_unit(unit, model, 0, 0) : 0.0;
}

static double cost_of(const struct schedule *schedule,
    const struct cost_model *model, uint32_t samples, uint32_t pairs)
{
    double sum = model->start;
    uint32_t gpus = 0;

    for (uint32_t i = 0; i < schedule->units_count; i++) {
        const struct unit *const unit = &schedule->units[i];

        if (unit->state == STATE_NONE) {
            sum += cost_of_unit(unit, model, samples, pairs);
            gpus = unit->gpus_count > gpus ? unit->gpus_count : gpus;
        }
    }
    return sum + gpus * model->start_gpu;
}

double fit_estimate(
    const struct schedule *schedule, const struct cost_model *model)
{
    return cost_of(schedule, model, 0, 0);
}

/* ---- deciding ---- */

/* GPUs of the largest matrix of pairs. */
static uint32_t matrix_side(const struct schedule *schedule)
{
    uint32_t side = 0;

    for (uint32_t i = 0; i < schedule->units_count; i++) {
        const struct unit *const unit = &schedule->units[i];

        for (uint32_t k = 0; k < unit->shapes_count; k++) {
            if (unit->state == STATE_NONE &&
                is_matrix_of_pairs(&unit->shapes[k]) &&
                unit->shapes[k].rows > side) {
                side = unit->shapes[k].rows;
            }
        }
    }
    return side;
}

/* The most pairs that fit, at least one for each GPU. */
static uint32_t pairs_that_fit(const struct schedule *schedule,
    const struct cost_model *model, uint32_t samples, uint32_t side,
    double seconds)
{
    uint32_t fits = side;
    uint32_t over = side * (side - 1);

    while (over - fits > 1) {
        const uint32_t middle = fits + (over - fits) / 2;

        if (cost_of(schedule, model, samples, middle) <= seconds) {
            fits = middle;
        } else {
            over = middle;
        }
    }
    return fits;
}

void fit_budget(const struct schedule *schedule, uint64_t budget_ns,
    const struct cost_model *model, struct fit *out)
{
    const double seconds = (double)budget_ns * 1e-9;
    const uint32_t side = matrix_side(schedule);

    *out = (struct fit){ .before = cost_of(schedule, model, 0, 0),
        .all_pairs = side > 0 ? side * (side - 1) : 0 };
    out->after = out->before;
    if (out->before <= seconds) {
        return;
    }
    out->after = cost_of(schedule, model, FIT_SAMPLES_LEAST, 0);
    if (out->after < out->before) {
        out->samples = FIT_SAMPLES_LEAST;
    }
    if (out->after > seconds && side > 2) {
        out->pairs =
            pairs_that_fit(schedule, model, out->samples, side, seconds);
        out->after = cost_of(schedule, model, out->samples, out->pairs);
    }
}

/* ---- carrying out ---- */

static int has_too_many(const struct unit *unit, uint32_t samples)
{
    return unit->state == STATE_NONE && is_adaptive(unit) &&
           number_of(unit, "max_samples") > samples &&
           number_of(unit, "min_samples") <= samples;
}

/* The old list may belong to other units too. */
static int32_t set_samples(
    struct unit *unit, uint32_t samples, struct arena *arena, struct error *err)
{
    for (uint32_t i = 0; i < unit->params_count; i++) {
        struct unit_param *const param = &unit->params[i];

        if (strcmp(param->name, "max_samples") == 0) {
            param->values = arena_alloc(arena, 1, sizeof *param->values);
            FAIL_IF(param->values == NULL, err, NVBW_E_SYSTEM, "out of memory");
            param->values[0] = arena_format(arena, "%u", samples);
            FAIL_IF(
                param->values[0] == NULL, err, NVBW_E_SYSTEM, "out of memory");
        }
    }
    return NVBW_OK;
}

int32_t fit_apply(const struct fit *fit, struct schedule *schedule,
    struct arena *arena, struct error *err)
{
    for (uint32_t i = 0; fit->samples > 0 && i < schedule->units_count; i++) {
        if (has_too_many(&schedule->units[i], fit->samples)) {
            TRY(set_samples(&schedule->units[i], fit->samples, arena, err));
        }
    }
    return NVBW_OK;
}

const char *fit_words(
    const struct fit *fit, uint64_t budget_ns, struct arena *arena)
{
    const char *samples = "";
    const char *pairs = "";

    if (fit->before <= (double)budget_ns * 1e-9) {
        return NULL;
    }
    if (fit->samples > 0) {
        samples =
            arena_format(arena, ", at most %u samples a cell", fit->samples);
    }
    if (fit->pairs > 0) {
        pairs = arena_format(arena,
            ", %u of %u pairs of GPUs in each matrix, chosen by the seed",
            fit->pairs, fit->all_pairs);
    }
    return samples == NULL || pairs == NULL
               ? NULL
               : arena_format(arena,
                     "the budget is %.0f s and the plan takes about %.0f "
                     "s%s%s%s",
                     (double)budget_ns * 1e-9, fit->before, samples, pairs,
                     fit->after <= (double)budget_ns * 1e-9
                         ? ""
                         : "; what is not reached will be not_run");
}
