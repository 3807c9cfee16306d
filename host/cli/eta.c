/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "eta.h"

#include "fit_budget.h"
#include "unit.h"

/* As if the model had been right for so long before the run began. */
static const double believed_seconds = 10.0;

static double cost_of_cell(
    const struct unit *unit, const struct cost_model *model)
{
    const uint32_t cells = unit_cell_count(unit);

    return cells == 0 ? 0.0 : fit_unit_seconds(unit, model) / cells;
}

void eta_add_unit(
    struct eta *eta, const struct unit *unit, const struct cost_model *model)
{
    eta->planned += cost_of_cell(unit, model) * unit_cell_count(unit);
}

void eta_settle_cell(struct eta *eta, const struct unit *unit,
    const struct cost_model *model, int was_measured)
{
    const double cost = cost_of_cell(unit, model);

    if (was_measured) {
        eta->done += cost;
    } else {
        eta->planned -= cost;
    }
}

double eta_left(const struct eta *eta, double passed_seconds)
{
    const double left = eta->planned - eta->done;
    const double pace =
        (passed_seconds + believed_seconds) / (eta->done + believed_seconds);

    return left > 0.0 ? left * pace : 0.0;
}
