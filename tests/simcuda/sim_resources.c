/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "sim_resources.h"

#include <float.h>
#include <stdlib.h>

struct share_state {
    double left;   /* of the capacity, for those not settled yet */
    double weight; /* of those not settled yet */
    int limited;
};

/* What transfer_load may have of its narrowest resource. */
static double share_of(
    const struct transfer_load *load, const struct share_state *states)
{
    double share = load->limit > 0 ? load->limit : DBL_MAX;

    for (uint32_t i = 0; i < load->uses_count; i++) {
        const struct resource_use *use = &load->uses[i];
        const struct share_state *state = &states[use->resource];

        if (!state->limited || use->cost <= 0) {
            continue;
        }
        const double here =
            state->left * use->weight / state->weight / use->cost;

        share = here < share ? here : share;
    }
    return share;
}

static void settle(
    struct transfer_load *load, double rate, struct share_state *states)
{
    load->rate = rate > 0 ? rate : 1e-9;
    for (uint32_t i = 0; i < load->uses_count; i++) {
        const struct resource_use *use = &load->uses[i];
        struct share_state *state = &states[use->resource];

        state->left -= load->rate * use->cost;
        state->left = state->left > 0 ? state->left : 0;
        state->weight -= use->weight;
    }
}

static struct transfer_load *slowest(struct transfer_load *const *loads,
    uint32_t loads_count, const struct share_state *states, double *out_rate)
{
    struct transfer_load *found = NULL;

    *out_rate = DBL_MAX;
    for (uint32_t i = 0; i < loads_count; i++) {
        if (loads[i]->rate >= 0) {
            continue;
        }
        const double share = share_of(loads[i], states);

        if (found == NULL || share < *out_rate) {
            found = loads[i];
            *out_rate = share;
        }
    }
    return found;
}

static void begin(const double *capacities, struct share_state *states,
    uint32_t resources_count, struct transfer_load *const *loads,
    uint32_t loads_count)
{
    for (uint32_t i = 0; i < resources_count; i++) {
        states[i] = (struct share_state){ .left = capacities[i],
            .limited = capacities[i] > 0 };
    }
    for (uint32_t i = 0; i < loads_count; i++) {
        loads[i]->rate = -1; /* not settled */
        for (uint32_t j = 0; j < loads[i]->uses_count; j++) {
            const struct resource_use *use = &loads[i]->uses[j];

            states[use->resource].weight += use->weight;
        }
    }
}

void resources_share(const double *capacities, uint32_t resources_count,
    struct transfer_load *const *loads, uint32_t loads_count)
{
    struct share_state *states =
        calloc((size_t)resources_count + 1, sizeof *states);

    if (states == NULL) {
        return;
    }
    begin(capacities, states, resources_count, loads, loads_count);
    for (uint32_t i = 0; i < loads_count; i++) {
        double rate = 0;
        struct transfer_load *load = slowest(loads, loads_count, states, &rate);

        settle(load, rate, states);
    }
    free(states);
}
