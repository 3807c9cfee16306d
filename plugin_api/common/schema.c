/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "schema.h"

#include <string.h>

#include "state.h"

static const struct field param_list[] = {
    FIELD(param_schema, WORD, name),
    FIELD(param_schema, TEXT, help),
    FIELD_NAMED(param_schema, type, type_names),
    FIELD_NAMED(param_schema, unit, unit_names),
    FIELD(param_schema, U32, flags),
    FIELD(param_schema, TEXT, default_text),
    FIELD(param_schema, TEXT, min_text),
    FIELD(param_schema, TEXT, max_text),
    FIELD_LIST(param_schema, TEXTS, choices),
    FIELD_LIST(param_schema, TEXTS, choices_help),
    FIELD_END,
};
const struct fields param_schema_fields = FIELDS(param_schema, param_list);

static const struct field metric_list[] = {
    FIELD(metric_schema, WORD, name),
    FIELD(metric_schema, TEXT, help),
    FIELD_NAMED(metric_schema, unit, unit_names),
    FIELD_NAMED(metric_schema, better, better_names),
    FIELD(metric_schema, U32, flags),
    FIELD(metric_schema, TEXT, rows),
    FIELD(metric_schema, TEXT, cols),
    FIELD_END,
};
static const struct fields metric_fields = FIELDS(metric_schema, metric_list);

static const struct field testcase_list[] = {
    FIELD(testcase_schema, WORD, name),
    FIELD(testcase_schema, TEXT, summary),
    FIELD(testcase_schema, TEXT, help),
    FIELD_LIST(testcase_schema, TEXTS, tags),
    FIELD(testcase_schema, U64, need_features),
    FIELD(testcase_schema, U32, need_gpus),
    FIELD(testcase_schema, U32, need_ranks),
    FIELD(testcase_schema, U32, need_compute),
    FIELD(testcase_schema, U32, need_driver),
    FIELD(testcase_schema, U64, need_gpu_bytes),
    FIELD(testcase_schema, U64, need_pinned_bytes),
    FIELD_STRUCTS(testcase_schema, params, &param_schema_fields),
    FIELD_STRUCTS(testcase_schema, metrics, &metric_fields),
    FIELD(testcase_schema, U32, has_probe),
    FIELD(testcase_schema, U32, has_check),
    FIELD(testcase_schema, TEXT, problem),
    FIELD_END,
};
const struct fields testcase_schema_fields =
    FIELDS(testcase_schema, testcase_list);

static const struct field plugin_list[] = {
    FIELD(plugin_schema, WORD, name),
    FIELD(plugin_schema, TEXT, version),
    FIELD(plugin_schema, TEXT, summary),
    FIELD(plugin_schema, TEXT, licence),
    FIELD(plugin_schema, TEXT, file),
    FIELD(plugin_schema, TEXT, sha256),
    FIELD(plugin_schema, U32, abi_minor),
    FIELD(plugin_schema, U32, min_host_minor),
    FIELD(plugin_schema, U32, flags),
    FIELD_STRUCTS(plugin_schema, testcases, &testcase_schema_fields),
    FIELD_NAMED(plugin_schema, state, state_names),
    FIELD(plugin_schema, TEXT, reason),
    FIELD(plugin_schema, TEXT, message),
    FIELD(plugin_schema, U32, installed),
    FIELD(plugin_schema, U32, trusted),
    FIELD_END,
};
const struct fields plugin_schema_fields = FIELDS(plugin_schema, plugin_list);

const struct testcase_schema *schema_testcase(
    const struct plugin_schema *plugin, const char *name)
{
    for (uint32_t i = 0; i < plugin->testcases_count; i++) {
        if (strcmp(plugin->testcases[i].name, name) == 0) {
            return &plugin->testcases[i];
        }
    }
    return NULL;
}

const struct metric_schema *schema_metric(
    const struct testcase_schema *testcase, const char *name)
{
    for (uint32_t i = 0; i < testcase->metrics_count; i++) {
        if (strcmp(testcase->metrics[i].name, name) == 0) {
            return &testcase->metrics[i];
        }
    }
    return NULL;
}

const struct param_schema *schema_param(
    const struct testcase_schema *testcase, const char *name)
{
    for (uint32_t i = 0; i < testcase->params_count; i++) {
        if (strcmp(testcase->params[i].name, name) == 0) {
            return &testcase->params[i];
        }
    }
    return NULL;
}

const char *schema_member_key(const struct param_schema *param)
{
    const char *const dot = (param->flags & SCHEMA_PARAM_MEMBER) != 0
                                ? strchr(param->name, '.')
                                : NULL;

    return dot == NULL ? NULL : dot + 1;
}
