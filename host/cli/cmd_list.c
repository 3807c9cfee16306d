/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cmd.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "judge.h"
#include "needs.h"
#include "prepare.h"
#include "record_json.h"
#include "state.h"
#include "wrap.h"

enum { LEAD_BYTES = 160 };

/* Whether a testcase can run here, on the GPUs of --devices. */
static int32_t ask(struct prepared *prepared,
    const struct testcase_schema *testcase, struct needs_answer *out,
    struct error *err)
{
    uint32_t *gpus = NULL;
    uint32_t count = 0;

    TRY(prepare_gpus(prepared, &gpus, &count, err));
    return needs_check(testcase, &prepared->facts, gpus, count,
        (struct needs_rules){ 0 }, prepared->arena, out, err);
}

/* A reason that several testcases in a row share is given once, after them.
 */
static void print_reason(
    const struct needs_answer *answer, const struct needs_answer *next)
{
    char lead[LEAD_BYTES];

    if (answer->message != NULL &&
        (next == NULL || next->message == NULL ||
            strcmp(answer->message, next->message) != 0)) {
        snprintf(
            lead, sizeof lead, "    ^ cannot run here (%s): ", answer->reason);
        wrap_print(lead, 6, answer->message);
    }
}

static int32_t print_testcases(struct prepared *prepared,
    const struct plugin_schema *plugin, struct error *err)
{
    struct needs_answer before = { 0 };

    for (uint32_t i = 0; i < plugin->testcases_count; i++) {
        const struct testcase_schema *const testcase = &plugin->testcases[i];
        struct needs_answer answer = { 0 };
        char lead[LEAD_BYTES];

        if (testcase->problem == NULL) {
            TRY(ask(prepared, testcase, &answer, err));
        }
        print_reason(&before, &answer);
        before = answer;
        snprintf(lead, sizeof lead, "  %c %-38s ",
            testcase->problem == NULL && answer.state == STATE_NONE ? ' ' : '-',
            testcase->name);
        wrap_print(lead, 43, testcase->summary);
        if (testcase->problem != NULL) {
            printf("    refused: %s\n", testcase->problem);
        }
    }
    print_reason(&before, NULL);
    return NVBW_OK;
}

static int32_t print_text(struct prepared *prepared, struct error *err)
{
    for (uint32_t i = 0; i < prepared->plugins_count; i++) {
        const struct plugin_schema *const plugin = &prepared->plugins[i];
        char lead[LEAD_BYTES];

        snprintf(lead, sizeof lead, "%s %s  ", plugin->name,
            plugin->version == NULL ? "" : plugin->version);
        wrap_print(lead, 4, plugin->summary);
        if (plugin->state != STATE_NONE) {
            printf("  %s (%s): %s\n", name_of(state_names, plugin->state),
                plugin->reason == NULL ? "-" : plugin->reason, plugin->message);
        }
        TRY(print_testcases(prepared, plugin, err));
    }
    return NVBW_OK;
}

static int32_t add_testcases(struct prepared *prepared,
    const struct plugin_schema *plugin, json_t *json, struct error *err)
{
    json_t *const list = json_object_get(json, "testcases");

    for (uint32_t i = 0; i < plugin->testcases_count; i++) {
        struct needs_answer answer = { 0 };
        json_t *const item = json_array_get(list, i);

        TRY(ask(prepared, &plugin->testcases[i], &answer, err));
        json_object_set_new(
            item, "runs_here", json_boolean(answer.state == STATE_NONE));
        json_object_set_new(item, "reason",
            answer.reason == NULL ? json_null() : json_string(answer.reason));
        json_object_set_new(item, "message",
            answer.message == NULL ? json_null() : json_string(answer.message));
    }
    return NVBW_OK;
}

static int32_t print_json(struct prepared *prepared, struct error *err)
{
    json_t *const list = json_array();

    for (uint32_t i = 0; i < prepared->plugins_count; i++) {
        json_t *const json = fields_to_json(
            &plugin_schema_fields, &prepared->plugins[i], ABSENT_NULL);

        FAIL_IF(json == NULL, err, NVBW_E_SYSTEM, "out of memory");
        json_array_append_new(list, json);
        TRY(add_testcases(prepared, &prepared->plugins[i], json, err));
    }

    json_t *const root = json_pack("{s:o}", "plugins", list);

    json_dumpf(root, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(root);
    return NVBW_OK;
}

static int run(const struct options *options, struct arena *arena)
{
    struct prepared prepared;
    struct error err = { 0 };
    int32_t status = prepare_parts(options, arena, &prepared, &err);

    if (status >= 0 && options->plans.count > 0) {
        status = prepare_plan(&prepared, &err);
    }
    if (status >= 0) {
        status = prepare_plugins(&prepared, &err);
    }
    if (status >= 0) {
        status = prepare_facts(&prepared, &err);
    }
    if (status >= 0) {
        status = options->json ? print_json(&prepared, &err)
                               : print_text(&prepared, &err);
    }
    return status < 0 ? command_fail(&err, EXIT_USAGE) : EXIT_PASSED;
}

const struct command command_list = {
    .name = "list",
    .usage = "[--json] [--devices LIST] [--plugin-dir DIR]",
    .summary = "plugins, testcases, and whether each can run here",
    .run = run,
};
