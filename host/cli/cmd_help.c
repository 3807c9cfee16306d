/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cmd.h"

#include <stdio.h>
#include <string.h>

#include "help.h"
#include "judge.h"
#include "nearest.h"
#include "prepare.h"
#include "report.h"
#include "state.h"
#include "wrap.h"

enum { LEAD_BYTES = 160 };

static void print_param(const struct param_schema *param)
{
    printf("  %s (%s%s", param->name, name_of(type_names, param->type),
        (param->flags & NVBW_PARAM_LIST) != 0 &&
                schema_member_key(param) == NULL
            ? " list"
            : "");
    if (param->default_text != NULL) {
        printf(", default %s", param->default_text);
    } else if (schema_member_key(param) != NULL) {
        printf(", must be given");
    }
    if (param->min_text != NULL) {
        printf(", at least %s", param->min_text);
    }
    if (param->max_text != NULL) {
        printf(", at most %s", param->max_text);
    }
    printf(")\n");
    wrap_print("      ", 6, param->help);
    for (uint32_t i = 0; i < param->choices_count; i++) {
        char lead[LEAD_BYTES];

        snprintf(lead, sizeof lead, "      %s: ", param->choices[i]);
        wrap_print(lead, 8,
            i < param->choices_help_count ? param->choices_help[i] : "");
    }
}

static void print_metric(const struct metric_schema *metric)
{
    printf("  %s (%s, %s is better", metric->name,
        name_of(unit_names, metric->unit),
        name_of(better_names, metric->better));
    if (metric->rows != NULL) {
        printf(", rows: %s", metric->rows);
    }
    if (metric->cols != NULL) {
        printf(", columns: %s", metric->cols);
    }
    printf(")\n");
    wrap_print("      ", 6, metric->help);
}

static void print_testcase(
    const struct plugin_schema *plugin, const struct testcase_schema *testcase)
{
    printf("testcase %s, of plugin %s\n", testcase->name, plugin->name);
    wrap_print("", 0, testcase->summary);
    if (testcase->help != NULL) {
        printf("\n");
        wrap_print("", 0, testcase->help);
    }
    printf("\nmetrics:\n");
    for (uint32_t i = 0; i < testcase->metrics_count; i++) {
        print_metric(&testcase->metrics[i]);
    }
    printf("\nparameters of its own:%s\n",
        testcase->params_count == 0 ? " none" : "");
    for (uint32_t i = 0; i < testcase->params_count; i++) {
        print_param(&testcase->params[i]);
    }
    printf("\nnvbw-host help parameters lists those that every testcase has\n");
}

static void print_plugin(const struct plugin_schema *plugin)
{
    printf("plugin %s %s\n", plugin->name,
        plugin->version == NULL ? "" : plugin->version);
    wrap_print("", 0, plugin->summary);
    printf(
        "file %s\n\ntestcases:\n", plugin->file == NULL ? "-" : plugin->file);
    if (plugin->message != NULL) {
        printf("  cannot be used: %s\n", plugin->message);
    }
    for (uint32_t i = 0; i < plugin->testcases_count; i++) {
        char lead[LEAD_BYTES];

        snprintf(lead, sizeof lead, "  %-40s ", plugin->testcases[i].name);
        wrap_print(lead, 43, plugin->testcases[i].summary);
    }
}

static void print_parameters(void)
{
    for (const struct param_schema *param = standard_params;
         param->name != NULL; param++) {
        print_param(param);
    }
}

static void print_reports(void)
{
    for (const struct report_format *format = report_formats;
         format->name != NULL; format++) {
        printf("  %-18s %s\n", format->name, format->summary);
    }
}

static void print_key(const struct plan_key *key)
{
    printf("  %-10s %-20s %s\n", key->where, key->name, key->type);
    wrap_print("      ", 6, key->help);
}

static void print_plan_keys(void)
{
    for (const struct plan_key *key = plan_keys; key->name != NULL; key++) {
        print_key(key);
    }
}

struct topic {
    const char *name;
    void (*print)(void);
};
static const struct topic topics[] = {
    { "parameters", print_parameters },
    { "reports", print_reports },
    { "plan", print_plan_keys },
};

static int print_topic(const char *name)
{
    for (size_t i = 0; i < sizeof topics / sizeof topics[0]; i++) {
        if (strcmp(topics[i].name, name) == 0) {
            topics[i].print();
            return 1;
        }
    }
    return 0;
}

static int print_own_params(
    const struct plugin_schema *plugin, const char *name, const char **last)
{
    int found = 0;

    for (uint32_t i = 0; i < plugin->testcases_count; i++) {
        const struct param_schema *const param =
            schema_param(&plugin->testcases[i], name);

        if (param == NULL) {
            continue;
        }
        if (*last == NULL || strcmp(*last, plugin->name) != 0) {
            printf("of testcases of plugin %s\n", plugin->name);
            print_param(param);
        }
        *last = plugin->name;
        found = 1;
    }
    return found;
}

/* Keys and parameters; 1 if one has the name. */
static int print_value_named(const struct prepared *prepared, const char *name)
{
    const char *last = NULL;
    int found = 0;

    if (standard_param(name) != NULL) {
        print_param(standard_param(name));
        found = 1;
    }
    for (uint32_t i = 0; i < prepared->plugins_count; i++) {
        found |= print_own_params(&prepared->plugins[i], name, &last);
    }
    for (const struct plan_key *key = plan_keys; key->name != NULL; key++) {
        if (strcmp(key->name, name) == 0) {
            print_key(key);
            found = 1;
        }
    }
    return found;
}

static void offer_others(
    const struct prepared *prepared, struct nearest *nearest)
{
    for (const struct param_schema *at = standard_params; at->name != NULL;
         at++) {
        nearest_offer(nearest, at->name);
    }
    for (const struct plan_key *key = plan_keys; key->name != NULL; key++) {
        nearest_offer(nearest, key->name);
    }
    for (size_t i = 0; i < sizeof topics / sizeof topics[0]; i++) {
        nearest_offer(nearest, topics[i].name);
    }
    for (size_t i = 0; commands[i] != NULL; i++) {
        nearest_offer(nearest, commands[i]->name);
    }
    for (uint32_t i = 0; i < prepared->plugins_count; i++) {
        const struct plugin_schema *const plugin = &prepared->plugins[i];

        for (uint32_t k = 0; k < plugin->testcases_count; k++) {
            for (uint32_t n = 0; n < plugin->testcases[k].params_count; n++) {
                nearest_offer(nearest, plugin->testcases[k].params[n].name);
            }
        }
    }
}

/* A plugin, testcase, parameter or key of this name, or the nearest name. */
static int print_named(const struct prepared *prepared, const char *name)
{
    struct nearest nearest;
    char hint[NEAREST_HINT_BYTES];
    struct error err = { 0 };
    int found = 0;

    nearest_begin(&nearest, name);

    for (uint32_t i = 0; i < prepared->plugins_count; i++) {
        const struct plugin_schema *const plugin = &prepared->plugins[i];

        nearest_offer(&nearest, plugin->name);
        if (strcmp(plugin->name, name) == 0) {
            print_plugin(plugin);
            found = 1;
        }
        for (uint32_t k = 0; k < plugin->testcases_count; k++) {
            nearest_offer(&nearest, plugin->testcases[k].name);
            if (strcmp(plugin->testcases[k].name, name) == 0) {
                print_testcase(plugin, &plugin->testcases[k]);
                found = 1;
            }
        }
    }
    found |= print_value_named(prepared, name);
    if (found) {
        return EXIT_PASSED;
    }
    offer_others(prepared, &nearest);
    error_set(&err, NVBW_E_INVALID,
        "nothing is called \"%s\"%s; nvbw-host list names all testcases", name,
        nearest_hint(&nearest, hint));
    return command_fail(&err, EXIT_USAGE);
}

static int run(const struct options *options, struct arena *arena)
{
    struct prepared prepared;
    struct error err = { 0 };

    if (options->args.count == 0) {
        help_print("run");
        return EXIT_PASSED;
    }

    const char *const name = options->args.texts[0];

    if (command_find(name) != NULL) {
        help_print(name);
        return EXIT_PASSED;
    }
    if (print_topic(name)) {
        return EXIT_PASSED;
    }
    if (prepare_parts(options, arena, &prepared, &err) < 0 ||
        prepare_plugins(&prepared, &err) < 0) {
        return command_fail(&err, EXIT_USAGE);
    }
    return print_named(&prepared, name);
}

const struct command command_help = {
    .name = "help",
    .usage = "[NAME | parameters | plan | "
             "reports]",
    .summary = "explains a command, plugin, testcase, parameter or key",
    .most_words = 1,
    .run = run,
};
