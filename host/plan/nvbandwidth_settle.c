/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Which plugin carries out each testcase that nvbandwidth's flags ask for, as
 * far as there is one. */
#include "nvbandwidth_plan.h"

#include <string.h>

#include "nearest.h"
#include "nvbandwidth_names.h"
#include "state.h"

/* The plugins that are there. */
struct offer {
    struct arena *arena;
    struct plugin_schema *list;
    uint32_t count;
};

static const struct testcase_schema *find_testcase(const struct offer *offer,
    const char *name, const struct plugin_schema **out_plugin)
{
    for (uint32_t i = 0; i < offer->count; i++) {
        const struct testcase_schema *const found =
            schema_testcase(&offer->list[i], name);

        if (found != NULL) {
            *out_plugin = &offer->list[i];
            return found;
        }
    }
    return NULL;
}

/* 1 if a plugin of that name is there and cannot be used: its own reason is
 * the right one. */
static int is_unusable(const struct offer *offer, const char *plugin)
{
    for (uint32_t i = 0; i < offer->count; i++) {
        if (strcmp(offer->list[i].name, plugin) == 0) {
            return offer->list[i].state != STATE_NONE;
        }
    }
    return 0;
}

static const char *unknown_text(const struct offer *offer, const char *name)
{
    char hint[NEAREST_HINT_BYTES];
    struct nearest nearest;

    nearest_begin(&nearest, name);
    for (uint32_t i = 0; i < NVBANDWIDTH_NAMES; i++) {
        nearest_offer(&nearest, nvbandwidth_at(NVBANDWIDTH_0_10, i)->name);
    }
    for (uint32_t i = 0; i < offer->count; i++) {
        for (uint32_t k = 0; k < offer->list[i].testcases_count; k++) {
            nearest_offer(&nearest, offer->list[i].testcases[k].name);
        }
    }
    return arena_format(offer->arena,
        "there is no testcase \"%s\"%s; nvbw-host -l lists them", name,
        nearest_hint(&nearest, hint));
}

/* Stands for a plugin that is not there, under the testcase's name, so that
 * no real one can have it. */
static int32_t add_stand_in(
    struct offer *offer, struct plan_suite *suite, struct error *err)
{
    const char *const name = suite->tests[0];
    const int is_known = nvbandwidth_find(name) != NULL;
    struct plugin_schema *const grown =
        arena_append(offer->arena, offer->list, &offer->count, sizeof *grown);

    FAIL_IF(grown == NULL, err, NVBW_E_SYSTEM, "no memory for the plan");
    offer->list = grown;
    grown[offer->count - 1] = (struct plugin_schema){
        .name = name,
        .state = is_known ? STATE_SKIP : STATE_ERROR,
        .reason = is_known ? "not_built" : "not_found",
        .message =
            is_known ? arena_format(offer->arena,
                           "no plugin here offers it: \"%s\" is not installed "
                           "or is older than this testcase",
                           suite->plugin)
                     : unknown_text(offer, name),
    };
    suite->plugin = name;
    return NVBW_OK;
}

static int32_t settle_suite(
    struct offer *offer, struct plan_suite *suite, struct error *err)
{
    const struct plugin_schema *plugin = NULL;

    if (find_testcase(offer, suite->tests[0], &plugin) != NULL) {
        suite->plugin = plugin->name;
        return NVBW_OK;
    }
    return is_unusable(offer, suite->plugin) ? NVBW_OK
                                             : add_stand_in(offer, suite, err);
}

int32_t nvbandwidth_plan_settle(struct arena *arena, struct plan *plan,
    struct plugin_schema **plugins, uint32_t *plugins_count, struct error *err)
{
    struct offer offer = { arena, NULL, 0 };

    for (uint32_t i = 0; i < *plugins_count; i++) {
        offer.list =
            arena_append(arena, offer.list, &offer.count, sizeof *offer.list);
        FAIL_IF(
            offer.list == NULL, err, NVBW_E_SYSTEM, "no memory for the plan");
        offer.list[i] = (*plugins)[i];
    }
    for (uint32_t i = 0; i < plan->suites_count; i++) {
        TRY(settle_suite(&offer, &plan->suites[i], err));
    }
    *plugins = offer.list;
    *plugins_count = offer.count;
    return NVBW_OK;
}
