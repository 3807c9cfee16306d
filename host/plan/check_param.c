/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "plan_check_parts.h"

#include <string.h>

#include "ladder.h"
#include "nearest.h"
#include "quantity.h"
#include "select.h"
#include "state.h"
#include "sweep.h"

/* ---- One value ---------------------------------------------------------- */

static int32_t check_text(
    const struct param_schema *param, const char *text, struct error *err)
{
    struct quantity_value value;

    if (param == standard_param("sizes")) {
        struct error why;

        if (ladder_check(text, &why) < 0) {
            return error_set(err, NVBW_E_INVALID, "parameter \"%s\": %.900s",
                param->name, why.text);
        }
        return NVBW_OK;
    }
    return quantity_param(param, text, &value, err);
}

/* What a bare ratio most likely is not; 1 where a problem was added. A plugin
 * may declare that it takes them, so theirs are only warned of. */
static int check_ratio(const struct plan_checker *checker,
    const struct param_schema *param, struct origin origin, const char *text)
{
    struct error why;
    double value = 0;
    double usual = 0;

    if (param->type != NVBW_TYPE_REAL || param->unit != NVBW_UNIT_RATIO ||
        param->default_text == NULL ||
        quantity_real(param->default_text, NVBW_UNIT_RATIO, &usual, NULL) < 0 ||
        usual <= 0 || quantity_ratio(text, usual, &value, &why) >= 0) {
        return 0;
    }
    problem_add(checker->problems, origin, param != standard_param(param->name),
        "parameter \"%s\": %.900s", param->name, why.text);
    return 1;
}

/* Elements of a LIST written as one text stand between commas. */
static int32_t check_elements(const struct param_schema *param,
    const struct plan_value *value, struct arena *arena, struct error *err)
{
    const char **texts = value->texts;
    uint32_t count = value->texts_count;

    if ((param->flags & NVBW_PARAM_LIST) != 0 && !value->is_list) {
        TRY(sweep_split(value->texts[0], arena, &texts, &count, err));
    }
    for (uint32_t i = 0; i < count; i++) {
        TRY(check_text(param, texts[i], err));
    }
    return NVBW_OK;
}

/* Adds a problem and returns 0 where the value is wrong. */
static int check_value(const struct plan_checker *checker,
    const struct param_schema *param, const struct plan_value *value)
{
    struct error err;

    if (value->kind == PLAN_GROUPS) {
        problem_add(checker->problems, value->origin, 0,
            "parameter \"%s\" takes values, not groups", param->name);
        return 0;
    }
    if (check_elements(param, value, checker->problems->arena, &err) < 0) {
        problem_add(checker->problems, value->origin, 0, "%s", err.text);
        return 0;
    }
    for (uint32_t i = 0; i < value->texts_count; i++) {
        if (check_ratio(checker, param, value->origin, value->texts[i])) {
            return 0;
        }
    }
    return 1;
}

/* ---- Names -------------------------------------------------------------- */

static void offer_own(
    const struct plugin_schema *plugin, struct nearest *nearest)
{
    for (uint32_t i = 0; i < plugin->testcases_count; i++) {
        for (uint32_t k = 0; k < plugin->testcases[i].params_count; k++) {
            const struct param_schema *const param =
                &plugin->testcases[i].params[k];

            if (schema_member_key(param) == NULL) {
                nearest_offer(nearest, param->name);
            }
        }
    }
}

static int check_own(const struct plan_checker *checker,
    const struct testcase_schema *testcase, const struct param_schema *own,
    const struct plan_value *value)
{
    return own->type == NVBW_TYPE_GROUP
               ? check_groups(checker, testcase, own, value)
               : check_value(checker, own, value);
}

static void offer_standard(struct nearest *nearest)
{
    for (const struct param_schema *at = standard_params; at->name != NULL;
         at++) {
        nearest_offer(nearest, at->name);
    }
}

/* Tries the value on every testcase of the plugin that has the parameter; 1
 * if one has it. The first complaint is enough. suite NULL: all testcases. */
static int check_in_plugin(const struct plan_checker *checker,
    const struct plan_suite *suite, const struct plugin_schema *plugin,
    const struct plan_value *value)
{
    int is_known = 0;

    for (uint32_t i = 0; i < plugin->testcases_count; i++) {
        const struct testcase_schema *const testcase = &plugin->testcases[i];
        const struct param_schema *const own =
            schema_param(testcase, value->name);

        if (own == NULL ||
            (suite != NULL && !select_in_suite(suite, testcase->name))) {
            continue;
        }
        is_known = 1;
        if (!check_own(checker, testcase, own, value)) {
            return 1;
        }
    }
    return is_known;
}

/* The first testcase of the plugin that has it, or NULL. */
static const char *testcase_with(
    const struct plugin_schema *plugin, const char *name)
{
    for (uint32_t i = 0; i < plugin->testcases_count; i++) {
        if (schema_param(&plugin->testcases[i], name) != NULL) {
            return plugin->testcases[i].name;
        }
    }
    return NULL;
}

static void refuse_in_suite(const struct plan_checker *checker,
    const struct plan_suite *suite, const struct plugin_schema *plugin,
    const struct plan_value *value)
{
    const char *const testcase = testcase_with(plugin, value->name);
    char hint[NEAREST_HINT_BYTES];
    struct nearest nearest;

    if (testcase != NULL) {
        problem_add(checker->problems, value->origin, 0,
            "parameter \"%s\" is of %s, which suite \"%s\" does not run",
            value->name, testcase, suite_name(suite));
        return;
    }
    nearest_begin(&nearest, value->name);
    offer_own(plugin, &nearest);
    offer_standard(&nearest);
    problem_add(checker->problems, value->origin, 0,
        "unknown parameter \"%s\" of suite \"%s\"%s", value->name,
        suite_name(suite), nearest_hint(&nearest, hint));
}

static void check_suite_value(const struct plan_checker *checker,
    const struct plan_suite *suite, const struct plugin_schema *plugin,
    const struct plan_value *value)
{
    const struct param_schema *const standard = standard_param(value->name);

    if (check_in_plugin(checker, suite, plugin, value)) {
        return;
    }
    if (standard != NULL) {
        check_value(checker, standard, value);
    } else {
        refuse_in_suite(checker, suite, plugin, value);
    }
}

/* The least and the most number of samples must leave a number between. */
static void check_sample_counts(
    const struct plan_checker *checker, const struct plan_suite *suite)
{
    const struct plan_value *const least =
        select_value(checker->plan, suite, "min_samples");
    const struct plan_value *const most =
        select_value(checker->plan, suite, "max_samples");
    const char *const least_text =
        least == NULL ? standard_param("min_samples")->default_text
                      : least->texts[0];
    const char *const most_text =
        most == NULL ? standard_param("max_samples")->default_text
                     : most->texts[0];
    int64_t low = 0;
    int64_t high = 0;

    if (least == NULL && most == NULL) {
        return;
    }
    if (quantity_int(least_text, &low, NULL) < 0 ||
        quantity_int(most_text, &high, NULL) < 0 || low <= high) {
        return;
    }
    problem_add(checker->problems, most != NULL ? most->origin : least->origin,
        0, "suite \"%s\": max_samples %s is below min_samples %s",
        suite_name(suite), most_text, least_text);
}

void check_params(const struct plan_checker *checker,
    const struct plan_suite *suite, const struct plugin_schema *plugin)
{
    for (uint32_t i = 0; i < suite->params_count; i++) {
        check_suite_value(checker, suite, plugin, &suite->params[i]);
    }
    if (suite->enabled) {
        check_sample_counts(checker, suite);
    }
}

/* ---- Defaults ----------------------------------------------------------- */

static void refuse_default(
    const struct plan_checker *checker, const struct plan_value *value)
{
    char hint[NEAREST_HINT_BYTES];
    struct nearest nearest;

    nearest_begin(&nearest, value->name);
    offer_standard(&nearest);
    for (const struct plan_key *key = plan_keys; key->name != NULL; key++) {
        if (strcmp(key->where, "defaults") == 0) {
            nearest_offer(&nearest, key->name);
        }
    }
    for (uint32_t i = 0; i < checker->plugins_count; i++) {
        offer_own(&checker->plugins[i], &nearest);
    }
    problem_add(checker->problems, value->origin, 0,
        "unknown parameter \"%s\" in defaults%s", value->name,
        nearest_hint(&nearest, hint));
}

/* 1 if a plugin that the plan uses cannot be asked. */
static int any_plugin_unusable(const struct plan_checker *checker)
{
    for (uint32_t i = 0; i < checker->plan->suites_count; i++) {
        const struct plugin_schema *const plugin =
            select_plugin(&checker->plan->suites[i], checker->plugins,
                checker->plugins_count);

        if (plugin == NULL || plugin->state != STATE_NONE) {
            return 1;
        }
    }
    return 0;
}

static void check_default(
    const struct plan_checker *checker, const struct plan_value *value)
{
    const struct param_schema *const standard = standard_param(value->name);
    int is_known = 0;

    if (standard != NULL) {
        check_value(checker, standard, value);
        return;
    }
    for (uint32_t i = 0; i < checker->plugins_count && !is_known; i++) {
        is_known = check_in_plugin(checker, NULL, &checker->plugins[i], value);
    }
    if (!is_known && !any_plugin_unusable(checker)) {
        refuse_default(checker, value);
    }
}

void check_defaults(const struct plan_checker *checker)
{
    for (uint32_t i = 0; i < checker->plan->params_count; i++) {
        check_default(checker, &checker->plan->params[i]);
    }
}
