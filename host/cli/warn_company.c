/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "warn_company.h"

#include <string.h>

#include "say.h"
#include "state.h"

/* With fewer GPUs no two pairs go together. */
enum { GPUS_LEAST = 4 };

static int is_beside(const struct unit *unit)
{
    const struct unit_param *const param = unit_param(unit, "concurrency");

    return unit->state == STATE_NONE && unit->gpus_count >= GPUS_LEAST &&
           param != NULL && param->values_count == 1 &&
           strcmp(param->values[0], "disjoint") == 0;
}

static int has_pairs(const struct unit *unit)
{
    for (uint32_t i = 0; i < unit->shapes_count; i++) {
        if (unit->shapes[i].pairs) {
            return 1;
        }
    }
    return 0;
}

/* The first pair of the unit that has PCIe between it, or NULL. */
static const struct pair_facts *pair_over_pcie(
    const struct facts *facts, const struct unit *unit)
{
    for (uint32_t i = 0; i < unit->gpus_count; i++) {
        for (uint32_t k = 0; k < unit->gpus_count; k++) {
            const struct pair_facts *const pair =
                i == k ? NULL : facts_pair(facts, unit->gpus[i], unit->gpus[k]);

            if (pair != NULL && pair->access == 1 && pair->nvlinks == 0) {
                return pair;
            }
        }
    }
    return NULL;
}

static const struct plan_value *last_of(
    const struct plan_value *values, uint32_t count)
{
    while (count > 0) {
        if (strcmp(values[--count].name, "concurrency") == 0) {
            return &values[count];
        }
    }
    return NULL;
}

static struct origin origin_of(const struct plan *plan, uint32_t suite)
{
    const struct plan_suite *const of = &plan->suites[suite];
    const struct plan_value *value = last_of(of->params, of->params_count);

    if (value == NULL) {
        value = last_of(plan->params, plan->params_count);
    }
    return value == NULL ? of->origin : value->origin;
}

static void warn(const struct prepared *prepared, const struct unit *unit,
    const struct pair_facts *pair)
{
    const struct facts *const facts = &prepared->facts;
    const struct origin origin = origin_of(&prepared->plan, unit->suite);

    say("warning: plan %s:%u: concurrency = \"disjoint\" is for GPUs on a "
        "switch of NVLink: GPU %d and GPU %d have PCIe between them, pairs "
        "share its bridges and are slow together though they are well; "
        "\"alone\" measures each by itself",
        origin.file == NULL ? "" : origin.file, origin.line,
        facts->gpus[pair->from].index, facts->gpus[pair->to].index);
}

void warn_company(const struct prepared *prepared)
{
    const struct schedule *const schedule = &prepared->schedule;
    uint32_t told = UINT32_MAX; /* suite */

    for (uint32_t i = 0; i < schedule->units_count; i++) {
        const struct unit *const unit = &schedule->units[i];
        const struct pair_facts *const pair =
            unit->round > 0 || unit->suite == told || !is_beside(unit) ||
                    !has_pairs(unit)
                ? NULL
                : pair_over_pcie(&prepared->facts, unit);

        if (pair != NULL) {
            told = unit->suite;
            warn(prepared, unit, pair);
        }
    }
}
