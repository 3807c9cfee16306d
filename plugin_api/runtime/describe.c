/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Descriptors to schema. Every pointer in a descriptor may be NULL and every
 * number unknown: what is wrong with one testcase is said in its `problem`,
 * what is wrong with the plugin refuses it. */
#include "loader.h"

#include <string.h>

#include "abi.h"
#include "describe_check.h"
#include "state.h"

enum { TEXT_LIMIT_BYTES = 64 * 1024 };

/* A testcase being read; err takes its problem. */
struct reading {
    struct arena *arena;
    struct error *err;
};

static int32_t no_memory(struct error *err)
{
    return error_set(err, NVBW_E_SYSTEM, "no memory for a plugin's descriptor");
}

static int32_t copy_text(
    const struct reading *reading, const char *text, const char **out)
{
    if (text == NULL) {
        *out = NULL;
        return NVBW_OK;
    }
    *out = arena_text_n(reading->arena, text, strnlen(text, TEXT_LIMIT_BYTES));
    return *out == NULL ? no_memory(reading->err) : NVBW_OK;
}

static int32_t copy_texts(const struct reading *reading,
    const char *const *list, const char *what, uint32_t step, const char ***out,
    uint32_t *out_count)
{
    uint32_t count = 0;

    TRY(abi_count(list, what, &count, reading->err));

    const uint32_t kept = (count + step - 1) / step;
    const char **const texts =
        arena_alloc(reading->arena, kept + 1, sizeof *texts);

    if (texts == NULL) {
        return no_memory(reading->err);
    }
    for (uint32_t i = 0; i < kept; i++) {
        TRY(copy_text(reading, list[(size_t)i * step], &texts[i]));
    }
    *out = texts;
    *out_count = kept;
    return NVBW_OK;
}

static int32_t read_name(const struct reading *reading, const char *group,
    const char *name, struct param_schema *out)
{
    TRY(copy_text(reading, name, &out->name));
    FAIL_IF(!abi_is_name(out->name), reading->err, NVBW_E_INVALID,
        "C10: a parameter has no lower_snake_case name");
    if (group == NULL) {
        return NVBW_OK;
    }
    out->flags |= NVBW_PARAM_LIST | SCHEMA_PARAM_MEMBER;
    out->name = arena_format(reading->arena, "%s.%s", group, out->name);
    return out->name == NULL ? no_memory(reading->err) : NVBW_OK;
}

static int32_t read_choices(const struct reading *reading,
    const struct nvbw_param *param, struct param_schema *out)
{
    uint32_t count = 0;

    TRY(abi_count(param->choices, "choices", &count, reading->err));
    FAIL_IF(count % 2 != 0, reading->err, NVBW_E_INVALID,
        "C10: the choices of parameter %s are not pairs of name and help",
        param->name);
    if (count == 0) {
        return NVBW_OK;
    }
    TRY(copy_texts(reading, param->choices, "choices", 2, &out->choices,
        &out->choices_count));
    return copy_texts(reading, param->choices + 1, "choices", 2,
        &out->choices_help, &out->choices_help_count);
}

/* group: of a member, else NULL. */
static int32_t read_param(const struct reading *reading, const void *given,
    const char *group, struct param_schema *out)
{
    struct nvbw_param param;

    TRY(abi_read(given, "parameter", NVBW_PARAM_LIST, &param, sizeof param,
        reading->err));
    out->type = param.type;
    out->unit = param.unit;
    out->flags = param.flags;
    FAIL_IF(group != NULL && param.flags != 0, reading->err, NVBW_E_INVALID,
        "C10: a key of group %s has flags; it has one value", group);
    TRY(read_name(reading, group, param.name, out));
    TRY(copy_text(reading, param.help, &out->help));
    TRY(copy_text(reading, param.default_text, &out->default_text));
    TRY(copy_text(reading, param.min_text, &out->min_text));
    TRY(copy_text(reading, param.max_text, &out->max_text));
    return read_choices(reading, &param, out);
}

/* The list that the GROUP at position i of the testcase's parameters has. */
static int32_t members_of(const struct reading *reading,
    const struct nvbw_testcase *testcase, uint32_t i,
    const struct nvbw_param *const **out, uint32_t *out_count)
{
    struct nvbw_param param;

    TRY(abi_read(testcase->params[i], "parameter", NVBW_PARAM_LIST, &param,
        sizeof param, reading->err));
    *out = param.type == NVBW_TYPE_GROUP ? param.members : NULL;
    return abi_count(*out, "members", out_count, reading->err);
}

static int32_t read_metric(
    const struct reading *reading, const void *given, struct metric_schema *out)
{
    struct nvbw_metric metric;

    TRY(abi_read(given, "metric", NVBW_METRIC_PAIRS | NVBW_METRIC_DERIVED,
        &metric, sizeof metric, reading->err));
    out->unit = metric.unit;
    out->better = metric.better;
    out->flags = metric.flags;
    TRY(copy_text(reading, metric.name, &out->name));
    TRY(copy_text(reading, metric.help, &out->help));
    TRY(copy_text(reading, metric.rows, &out->rows));
    return copy_text(reading, metric.cols, &out->cols);
}

static int32_t add_param(const struct reading *reading, const void *given,
    const char *group, struct testcase_schema *out)
{
    struct param_schema param = { 0 };

    TRY(read_param(reading, given, group, &param));
    FAIL_IF(out->params_count == ABI_LIST_LIMIT, reading->err, NVBW_E_INVALID,
        "C4: it has more than %d parameters", ABI_LIST_LIMIT);

    struct param_schema *const grown = arena_append(
        reading->arena, out->params, &out->params_count, sizeof *out->params);

    if (grown == NULL) {
        return no_memory(reading->err);
    }
    out->params = grown;
    grown[out->params_count - 1] = param;
    return NVBW_OK;
}

static int32_t read_params(const struct reading *reading,
    const struct nvbw_testcase *testcase, struct testcase_schema *out)
{
    uint32_t count = 0;

    TRY(abi_count(testcase->params, "params", &count, reading->err));
    for (uint32_t i = 0; i < count; i++) {
        const struct nvbw_param *const *members = NULL;
        uint32_t members_count = 0;

        TRY(add_param(reading, testcase->params[i], NULL, out));
        TRY(members_of(reading, testcase, i, &members, &members_count));

        const char *const group = out->params[out->params_count - 1].name;

        for (uint32_t k = 0; k < members_count; k++) {
            TRY(add_param(reading, members[k], group, out));
        }
    }
    return NVBW_OK;
}

static int32_t read_metrics(const struct reading *reading,
    const struct nvbw_testcase *testcase, struct testcase_schema *out)
{
    uint32_t count = 0;

    TRY(abi_count(testcase->metrics, "metrics", &count, reading->err));
    out->metrics = arena_alloc(reading->arena, count + 1, sizeof *out->metrics);
    if (out->metrics == NULL) {
        return no_memory(reading->err);
    }
    for (uint32_t i = 0; i < count; i++) {
        TRY(read_metric(reading, testcase->metrics[i], &out->metrics[i]));
        out->metrics_count = i + 1;
    }
    return NVBW_OK;
}

static int32_t read_needs(const struct reading *reading,
    const struct nvbw_testcase *testcase, struct testcase_schema *out)
{
    struct nvbw_needs needs;

    if (testcase->needs == NULL) {
        return NVBW_OK;
    }
    TRY(abi_read(
        testcase->needs, "needs", 0, &needs, sizeof needs, reading->err));
    out->need_features = needs.features;
    out->need_gpus = needs.min_gpus;
    out->need_ranks = needs.min_ranks;
    out->need_compute = needs.min_compute;
    out->need_driver = needs.min_driver;
    out->need_gpu_bytes = needs.gpu_bytes;
    out->need_pinned_bytes = needs.pinned_bytes;
    return NVBW_OK;
}

static int32_t read_testcase(const struct reading *reading,
    struct loaded_testcase *testcase, struct testcase_schema *out)
{
    struct nvbw_testcase *const own = &testcase->own;

    TRY(abi_read(
        testcase->given, "testcase", 0, own, sizeof *own, reading->err));
    TRY(copy_text(reading, own->name, &out->name));
    TRY(copy_text(reading, own->summary, &out->summary));
    TRY(copy_text(reading, own->help, &out->help));
    out->has_probe = own->probe != NULL;
    out->has_check = own->check != NULL;
    TRY(copy_texts(
        reading, own->tags, "tags", 1, &out->tags, &out->tags_count));
    TRY(read_needs(reading, own, out));
    TRY(read_params(reading, own, out));
    TRY(read_metrics(reading, own, out));
    FAIL_IF(own->run == NULL, reading->err, NVBW_E_INVALID,
        "C8: it has no run function");
    return describe_check_testcase(out, reading->err);
}

/* Only an error of memory is the caller's; all others are the testcase's. */
static int32_t add_testcase(struct arena *arena, struct loaded_plugin *plugin,
    uint32_t index, struct error *err)
{
    struct testcase_schema *const schema = &plugin->schema.testcases[index];
    struct error problem = { 0 };
    const struct reading reading = { arena, &problem };
    int32_t status = read_testcase(&reading, &plugin->testcases[index], schema);

    if (schema->name == NULL || schema->name[0] == '\0') {
        schema->name = arena_format(arena, "testcase_%u", index);
    } else if (status == NVBW_OK &&
               (uint32_t)loader_find(plugin, schema->name) < index) {
        status = error_set(&problem, NVBW_E_INVALID,
            "C8: an earlier testcase of the plugin has the same name");
    }
    if (status < 0) {
        /* What was refused may hold numbers that no frame can carry. */
        schema->problem = arena_text(arena, problem.text);
        schema->params_count = 0;
        schema->metrics_count = 0;
    }
    FAIL_IF(status == NVBW_E_SYSTEM || schema->name == NULL, err, NVBW_E_SYSTEM,
        "no memory for a plugin's descriptor");
    return NVBW_OK;
}

static int32_t read_plugin(const struct nvbw_plugin *given, const char *file,
    struct arena *arena, struct loaded_plugin *out, struct error *err)
{
    struct plugin_schema *const schema = &out->schema;
    const struct reading reading = { arena, err };

    TRY(abi_read(given, "nvbw_plugin_v1", NVBW_PLUGIN_MPI, &out->own,
        sizeof out->own, err));
    TRY(abi_accept(&out->own, err));
    FAIL_IF(!abi_is_name(out->own.name), err, NVBW_E_INVALID,
        "C2: it has no lower_snake_case name");
    FAIL_IF(
        out->own.version == NULL, err, NVBW_E_INVALID, "C2: it has no version");
    TRY(copy_text(&reading, out->own.name, &schema->name));
    TRY(copy_text(&reading, out->own.version, &schema->version));
    TRY(copy_text(&reading, out->own.summary, &schema->summary));
    TRY(copy_text(&reading, out->own.licence, &schema->licence));
    TRY(copy_text(&reading, file, &schema->file));
    schema->abi_minor = out->own.abi_minor;
    schema->min_host_minor = out->own.min_host_minor;
    schema->flags = out->own.flags;
    return NVBW_OK;
}

static int32_t read_testcases(
    struct arena *arena, struct loaded_plugin *out, struct error *err)
{
    uint32_t count = 0;

    TRY(abi_count(out->own.testcases, "testcases", &count, err));
    FAIL_IF(count == 0, err, NVBW_E_INVALID, "C2: it has no testcases");
    out->testcases = arena_alloc(arena, count, sizeof *out->testcases);
    out->schema.testcases =
        arena_alloc(arena, count, sizeof *out->schema.testcases);
    if (out->testcases == NULL || out->schema.testcases == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < count; i++) {
        out->testcases[i].given = out->own.testcases[i];
        out->schema.testcases_count = i + 1;
        TRY(add_testcase(arena, out, i, err));
    }
    return NVBW_OK;
}

int32_t describe_plugin(const struct nvbw_plugin *given, const char *file,
    struct arena *arena, struct loaded_plugin *out, struct error *err)
{
    struct error why = { 0 };

    *out = (struct loaded_plugin){ 0 };

    int32_t status = read_plugin(given, file, arena, out, &why);

    if (status == NVBW_OK) {
        status = read_testcases(arena, out, &why);
    }
    FAIL_IF(status < 0, err, status, "plugin %s: %s", file, why.text);
    return NVBW_OK;
}
