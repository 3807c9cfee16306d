/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "select.h"

#include <fnmatch.h>
#include <string.h>

#include "quantity.h"

const struct plugin_schema *select_plugin(const struct plan_suite *suite,
    const struct plugin_schema *plugins, uint32_t plugins_count)
{
    for (uint32_t i = 0; i < plugins_count; i++) {
        if (strcmp(plugins[i].name, suite->plugin) == 0) {
            return &plugins[i];
        }
    }
    return NULL;
}

static int matches_any(
    const char *const *globs, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (fnmatch(globs[i], name, 0) == 0) {
            return 1;
        }
    }
    return 0;
}

int select_in_suite(const struct plan_suite *suite, const char *testcase)
{
    return suite->tests_count == 0 ||
           matches_any(suite->tests, suite->tests_count, testcase);
}

static int shares_tag(
    const struct plan *plan, const char *const *tags, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < plan->tags_count; k++) {
            if (strcmp(tags[i], plan->tags[k]) == 0) {
                return 1;
            }
        }
    }
    return 0;
}

int select_runs(const struct plan *plan, const struct plan_suite *suite,
    const struct testcase_schema *testcase)
{
    if (!suite->enabled) {
        return 0;
    }
    if (plan->tags_count != 0 &&
        !shares_tag(plan, suite->tags, suite->tags_count) &&
        (testcase == NULL ||
            !shares_tag(plan, testcase->tags, testcase->tags_count))) {
        return 0;
    }
    if (testcase == NULL) {
        return plan->only_count == 0;
    }
    return select_in_suite(suite, testcase->name) &&
           (plan->only_count == 0 ||
               matches_any(plan->only, plan->only_count, testcase->name));
}

const struct param_schema *select_param(
    const struct testcase_schema *testcase, const char *name)
{
    const struct param_schema *const own = schema_param(testcase, name);

    return own != NULL ? own : standard_param(name);
}

static const struct plan_value *find_last(
    const struct plan_value *values, uint32_t count, const char *name)
{
    for (uint32_t i = count; i > 0; i--) {
        if (strcmp(values[i - 1].name, name) == 0) {
            return &values[i - 1];
        }
    }
    return NULL;
}

const struct plan_value *select_value(
    const struct plan *plan, const struct plan_suite *suite, const char *name)
{
    const struct plan_value *const own =
        find_last(suite->params, suite->params_count, name);

    return own != NULL ? own
                       : find_last(plan->params, plan->params_count, name);
}

static const char *setting_at(
    const struct plan_settings *settings, size_t member)
{
    const char *text = NULL;

    memcpy(&text, (const char *)settings + member, sizeof text);
    return text;
}

const char *select_setting(const struct plan *plan,
    const struct plan_suite *suite, size_t member, const char *fallback)
{
    const char *text = setting_at(&suite->settings, member);

    if (text == NULL) {
        text = setting_at(&plan->defaults, member);
    }
    return text != NULL ? text : fallback;
}

int select_flag(const struct plan *plan, const char *option)
{
    const struct plan_value *const value = plan_option(plan, option);
    int flag = 0;

    return value != NULL && value->texts_count == 1 &&
           quantity_bool(value->texts[0], &flag, NULL) == NVBW_OK && flag;
}
