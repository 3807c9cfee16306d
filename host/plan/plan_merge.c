/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "plan_layer.h"

#include <string.h>

#include "nearest.h"

/* The plan under construction and what is laid over it. */
struct merger {
    struct plan *plan;
    const struct plan_layer *layer;
    struct arena *arena;
    struct problems *problems;
    uint32_t first_rank; /* of this layer's limits */
};

static void replace(const char **text, const char *by)
{
    if (by != NULL) {
        *text = by;
    }
}

static int32_t no_memory(struct error *err)
{
    return error_set(err, NVBW_E_SYSTEM, "no memory to merge the plan");
}

/* ---- Values ------------------------------------------------------------- */

static struct plan_value *find_value(
    struct plan_value *list, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(list[i].name, name) == 0) {
            return &list[i];
        }
    }
    return NULL;
}

/* A value of the same name is replaced: the later one wins. */
static int32_t merge_values(struct arena *arena, struct plan_value **list,
    uint32_t *count, const struct plan_value *more, uint32_t more_count,
    struct error *err)
{
    for (uint32_t i = 0; i < more_count; i++) {
        struct plan_value *const old = find_value(*list, *count, more[i].name);

        if (old != NULL) {
            *old = more[i];
            continue;
        }

        struct plan_value *const grown =
            arena_append(arena, *list, count, sizeof *grown);

        if (grown == NULL) {
            return no_memory(err);
        }
        *list = grown;
        grown[*count - 1] = more[i];
    }
    return NVBW_OK;
}

/* ---- Limits ------------------------------------------------------------- */

static int32_t merge_limits(const struct merger *merger,
    struct plan_limit **list, uint32_t *count, const struct plan_limit *more,
    uint32_t more_count, struct error *err)
{
    for (uint32_t i = 0; i < more_count; i++) {
        struct plan_limit *const grown =
            arena_append(merger->arena, *list, count, sizeof *grown);

        if (grown == NULL) {
            return no_memory(err);
        }
        *list = grown;
        grown[*count - 1] = more[i];
        grown[*count - 1].rank += merger->first_rank;
    }
    return NVBW_OK;
}

/* One more than the highest rank so far. */
static uint32_t next_rank(const struct plan *plan)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < plan->limits_count; i++) {
        next = plan->limits[i].rank >= next ? plan->limits[i].rank + 1 : next;
    }
    for (uint32_t i = 0; i < plan->suites_count; i++) {
        const struct plan_suite *const suite = &plan->suites[i];

        for (uint32_t k = 0; k < suite->limits_count; k++) {
            next = suite->limits[k].rank >= next ? suite->limits[k].rank + 1
                                                 : next;
        }
    }
    return next;
}

/* ---- Suites ------------------------------------------------------------- */

static void merge_settings(
    struct plan_settings *settings, const struct plan_settings *by)
{
    replace(&settings->required, by->required);
    replace(&settings->confirm, by->confirm);
    replace(&settings->pass, by->pass);
    replace(&settings->warn, by->warn);
    replace(&settings->isolate, by->isolate);
}

static int32_t merge_suite(const struct merger *merger,
    struct plan_suite *suite, const struct suite_layer *by, struct error *err)
{
    replace(&suite->file, by->suite.file);
    replace(&suite->sha256, by->suite.sha256);
    if (by->has_enabled) {
        suite->enabled = by->suite.enabled;
    }
    if (by->has_tests) {
        suite->tests = by->suite.tests;
        suite->tests_count = by->suite.tests_count;
    }
    if (by->has_tags) {
        suite->tags = by->suite.tags;
        suite->tags_count = by->suite.tags_count;
    }
    merge_settings(&suite->settings, &by->suite.settings);
    TRY(merge_values(merger->arena, &suite->params, &suite->params_count,
        by->suite.params, by->suite.params_count, err));
    return merge_limits(merger, &suite->limits, &suite->limits_count,
        by->suite.limits, by->suite.limits_count, err);
}

static int32_t append_suite(const struct merger *merger,
    const struct suite_layer *by, struct error *err)
{
    struct plan *const plan = merger->plan;
    struct plan_suite *const grown = arena_append(
        merger->arena, plan->suites, &plan->suites_count, sizeof *grown);

    if (grown == NULL) {
        return no_memory(err);
    }
    plan->suites = grown;
    grown[plan->suites_count - 1] = (struct plan_suite){
        .plugin = by->suite.plugin,
        .id = by->suite.id,
        .enabled = 1,
        .origin = by->suite.origin,
    };
    return merge_suite(merger, &grown[plan->suites_count - 1], by, err);
}

static int is_same_text(const char *one, const char *other)
{
    return one == other ||
           (one != NULL && other != NULL && strcmp(one, other) == 0);
}

/* How many suites the layer's suite can mean, and the last of them. With an
 * id: the one of that plugin and id. Without: the plugin's, whatever its
 * id. */
static uint32_t find_suites(
    struct plan *plan, const struct plan_suite *by, struct plan_suite **out)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < plan->suites_count; i++) {
        struct plan_suite *const suite = &plan->suites[i];

        if (strcmp(suite->plugin, by->plugin) != 0) {
            continue;
        }
        if (is_same_text(suite->id, by->id)) {
            *out = suite;
            return 1;
        }
        if (by->id == NULL) {
            *out = suite;
            count++;
        }
    }
    return count;
}

static int has_suite_named(const struct plan *plan, const char *name)
{
    for (uint32_t i = 0; i < plan->suites_count; i++) {
        if (strcmp(suite_name(&plan->suites[i]), name) == 0) {
            return 1;
        }
    }
    return 0;
}

static int32_t overlay_suite(const struct merger *merger,
    const struct suite_layer *by, struct error *err)
{
    struct plan_suite *suite = NULL;
    const uint32_t count = find_suites(merger->plan, &by->suite, &suite);

    if (count > 1) {
        problem_add(merger->problems, by->suite.origin, 0,
            "plugin \"%s\" has %u suites, say by id which one is meant",
            by->suite.plugin, (unsigned)count);
        return NVBW_OK;
    }
    if (count == 1) {
        return merge_suite(merger, suite, by, err);
    }
    if (has_suite_named(merger->plan, suite_name(&by->suite))) {
        problem_add(merger->problems, by->suite.origin, 0,
            "another suite is named \"%s\" already, give this one another id",
            suite_name(&by->suite));
        return NVBW_OK;
    }
    return append_suite(merger, by, err);
}

/* --set addresses a suite by its name, which must be there. */
static int32_t set_suite(const struct merger *merger,
    const struct suite_layer *by, struct error *err)
{
    char hint[NEAREST_HINT_BYTES];
    struct nearest nearest;

    nearest_begin(&nearest, by->suite.plugin);
    for (uint32_t i = 0; i < merger->plan->suites_count; i++) {
        struct plan_suite *const suite = &merger->plan->suites[i];

        if (strcmp(suite_name(suite), by->suite.plugin) == 0) {
            return merge_suite(merger, suite, by, err);
        }
        nearest_offer(&nearest, suite_name(suite));
    }
    problem_add(merger->problems, by->suite.origin, 0,
        "the plan has no suite \"%s\"%s", by->suite.plugin,
        nearest_hint(&nearest, hint));
    return NVBW_OK;
}

static int32_t merge_suites(const struct merger *merger, struct error *err)
{
    const struct plan_layer *const layer = merger->layer;

    for (uint32_t i = 0; i < layer->suites_count; i++) {
        TRY(layer->is_set ? set_suite(merger, &layer->suites[i], err)
                          : overlay_suite(merger, &layer->suites[i], err));
    }
    return NVBW_OK;
}

/* ---- The whole ---------------------------------------------------------- */

static int32_t merge_accepts(const struct merger *merger, struct error *err)
{
    struct plan *const plan = merger->plan;
    const struct plan *const by = &merger->layer->plan;

    for (uint32_t i = 0; i < by->accepts_count; i++) {
        struct plan_accept *const grown = arena_append(
            merger->arena, plan->accepts, &plan->accepts_count, sizeof *grown);

        if (grown == NULL) {
            return no_memory(err);
        }
        plan->accepts = grown;
        grown[plan->accepts_count - 1] = by->accepts[i];
    }
    return NVBW_OK;
}

int32_t plan_merge(struct plan *plan, const struct plan_layer *layer,
    struct arena *arena, struct problems *problems, struct error *err)
{
    const struct plan *const by = &layer->plan;
    const struct merger merger = { plan, layer, arena, problems,
        next_rank(plan) };

    replace(&plan->name, by->name);
    merge_settings(&plan->defaults, &by->defaults);
    if (layer->has_reports) {
        plan->reports = by->reports;
        plan->reports_count = by->reports_count;
    }
    TRY(merge_values(arena, &plan->expect, &plan->expect_count, by->expect,
        by->expect_count, err));
    TRY(merge_values(arena, &plan->params, &plan->params_count, by->params,
        by->params_count, err));
    TRY(merge_values(arena, &plan->telemetry, &plan->telemetry_count,
        by->telemetry, by->telemetry_count, err));
    TRY(merge_values(arena, &plan->nvbandwidth, &plan->nvbandwidth_count,
        by->nvbandwidth, by->nvbandwidth_count, err));
    TRY(merge_values(arena, &plan->options, &plan->options_count, by->options,
        by->options_count, err));
    TRY(merge_limits(&merger, &plan->limits, &plan->limits_count, by->limits,
        by->limits_count, err));
    TRY(merge_accepts(&merger, err));
    return merge_suites(&merger, err);
}
