/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "schema_check.h"
#include "quantity.h"
#include "state.h"

#include <string.h>

enum {
    NAME_LIMIT = 64,     /* bytes of a name */
    ELEMENT_LIMIT = 4096 /* bytes of one element of a LIST's default */
};

enum { KNOWN_PARAM_FLAGS = NVBW_PARAM_LIST | SCHEMA_PARAM_MEMBER };
enum { KNOWN_METRIC_FLAGS = NVBW_METRIC_PAIRS | NVBW_METRIC_DERIVED };
enum { KNOWN_PLUGIN_FLAGS = NVBW_PLUGIN_MPI };
enum {
    KNOWN_FEATURES = NVBW_NEED_PEER | NVBW_NEED_NVLINK | NVBW_NEED_MULTICAST |
                     NVBW_NEED_FABRIC | NVBW_NEED_MPI
};

/* lower_snake_case: a letter, then letters, digits and underscores. */
static int is_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    static const char others[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    if (text == NULL || strspn(text, letters) == 0) {
        return 0;
    }
    const size_t length = strspn(text, others);
    return text[length] == '\0' && length <= NAME_LIMIT;
}

/* Of a key of a group: "group.key", each lower_snake_case. */
static int is_member_name(const char *text)
{
    const char *const dot = text == NULL ? NULL : strchr(text, '.');
    char group[NAME_LIMIT + 1] = "";

    if (dot == NULL || dot - text > NAME_LIMIT) {
        return 0;
    }
    memcpy(group, text, (size_t)(dot - text));
    return is_name(group) && is_name(dot + 1);
}

static int is_param_name(const struct param_schema *param)
{
    return (param->flags & SCHEMA_PARAM_MEMBER) != 0
               ? is_member_name(param->name)
               : is_name(param->name);
}

static const char *shown(const char *text)
{
    return text == NULL ? "" : text;
}

/* ---- Parameters --------------------------------------------------------- */

static int has_bounds(uint32_t type)
{
    return type == NVBW_TYPE_INT || type == NVBW_TYPE_SIZE ||
           type == NVBW_TYPE_DURATION || type == NVBW_TYPE_REAL;
}

/* A bound must parse as a value of its parameter, bounds left aside. */
static int32_t check_bound(const struct param_schema *param, const char *which,
    const char *text, struct error *why)
{
    struct param_schema bare = *param;
    struct quantity_value value;
    struct error reason = { 0 };
    if (text == NULL) {
        return NVBW_OK;
    }
    FAIL_IF(!has_bounds(param->type), why, NVBW_E_INVALID,
        "parameter \"%s\": its type has no %s (rule C10)", param->name, which);
    bare.min_text = NULL;
    bare.max_text = NULL;
    FAIL_IF(quantity_param(&bare, text, &value, &reason) < 0, why,
        NVBW_E_INVALID, "its %s: %s (rule C10)", which, reason.text);
    return NVBW_OK;
}

/* The maximum, read as a value, must not be below the minimum. */
static int32_t check_bounds(const struct param_schema *param, struct error *why)
{
    struct param_schema floored = *param;
    struct quantity_value value;
    TRY(check_bound(param, "minimum", param->min_text, why));
    TRY(check_bound(param, "maximum", param->max_text, why));
    floored.max_text = NULL;
    FAIL_IF(param->min_text != NULL && param->max_text != NULL &&
                quantity_param(&floored, param->max_text, &value, NULL) < 0,
        why, NVBW_E_INVALID,
        "parameter \"%s\": its maximum %s is below its minimum %s (rule C10)",
        param->name, param->max_text, param->min_text);
    return NVBW_OK;
}

static int32_t check_choices(
    const struct param_schema *param, struct error *why)
{
    const int is_enum = param->type == NVBW_TYPE_ENUM;
    FAIL_IF(is_enum && param->choices_count == 0, why, NVBW_E_INVALID,
        "parameter \"%s\": it is an ENUM without choices (rule C10)",
        param->name);
    FAIL_IF(!is_enum && param->choices_count != 0, why, NVBW_E_INVALID,
        "parameter \"%s\": only an ENUM has choices (rule C10)", param->name);
    FAIL_IF(param->choices_help_count != param->choices_count, why,
        NVBW_E_INVALID,
        "parameter \"%s\": each choice is a name and its help (rule C10)",
        param->name);
    for (uint32_t i = 0; i < param->choices_count; i++) {
        FAIL_IF(param->choices[i] == NULL || *param->choices[i] == '\0', why,
            NVBW_E_INVALID, "parameter \"%s\": choice %u is empty (rule C10)",
            param->name, i);
        for (uint32_t j = 0; j < i; j++) {
            FAIL_IF(strcmp(param->choices[i], param->choices[j]) == 0, why,
                NVBW_E_INVALID,
                "parameter \"%s\": choice \"%s\" stands twice (rule C10)",
                param->name, param->choices[i]);
        }
    }
    return NVBW_OK;
}

/* One element of a default, blanks around it left out. */
static int32_t check_element(const struct param_schema *param, const char *text,
    size_t length, struct error *why)
{
    char element[ELEMENT_LIMIT];
    struct quantity_value value;
    struct error reason = { 0 };
    while (length > 0 && *text == ' ') {
        text++;
        length--;
    }
    while (length > 0 && text[length - 1] == ' ') {
        length--;
    }
    FAIL_IF(length >= sizeof element, why, NVBW_E_INVALID,
        "parameter \"%s\": its default is too long (rule C10)", param->name);
    memcpy(element, text, length);
    element[length] = '\0';
    FAIL_IF(quantity_param(param, element, &value, &reason) < 0, why,
        NVBW_E_INVALID, "its default: %s (rule C10)", reason.text);
    return NVBW_OK;
}

static int32_t check_default(
    const struct param_schema *param, struct error *why)
{
    const char *text = param->default_text;
    const int is_member = (param->flags & SCHEMA_PARAM_MEMBER) != 0;
    if (text == NULL && (is_member || param->type == NVBW_TYPE_GROUP)) {
        return NVBW_OK;
    }
    FAIL_IF(text == NULL, why, NVBW_E_INVALID,
        "parameter \"%s\" has no default (rule C10)", param->name);
    if ((param->flags & NVBW_PARAM_LIST) == 0 || is_member) {
        return check_element(param, text, strlen(text), why);
    }
    for (;;) {
        const size_t length = strcspn(text, ",");
        TRY(check_element(param, text, length, why));
        if (text[length] == '\0') {
            return NVBW_OK;
        }
        text += length + 1;
    }
}

static int is_standard(const struct param_schema *standard, const char *name)
{
    for (; standard != NULL && standard->name != NULL; standard++) {
        if (strcmp(standard->name, name) == 0) {
            return 1;
        }
    }
    return 0;
}

static int32_t check_param(const struct param_schema *param,
    const struct param_schema *standard, struct error *why)
{
    const int has_unit =
        param->type == NVBW_TYPE_INT || param->type == NVBW_TYPE_REAL;
    FAIL_IF(!is_param_name(param), why, NVBW_E_INVALID,
        "the parameter name \"%.80s\" is not lower_snake_case (rule C10)",
        shown(param->name));
    FAIL_IF(is_standard(standard, param->name), why, NVBW_E_INVALID,
        "parameter \"%s\" is a standard one, which every testcase has "
        "already: leave it out or rename it (rule C10)",
        param->name);
    FAIL_IF(name_of(type_names, param->type) == NULL, why, NVBW_E_INVALID,
        "parameter \"%s\": type %u is unknown (rule C7)", param->name,
        param->type);
    FAIL_IF((param->flags & ~(uint32_t)KNOWN_PARAM_FLAGS) != 0, why,
        NVBW_E_INVALID, "parameter \"%s\": flags 0x%x are unknown (rule C2)",
        param->name, param->flags);
    FAIL_IF(name_of(unit_names, param->unit) == NULL, why, NVBW_E_INVALID,
        "parameter \"%s\": unit %u is unknown (rule C7)", param->name,
        param->unit);
    FAIL_IF(!has_unit && param->unit != NVBW_UNIT_NONE, why, NVBW_E_INVALID,
        "parameter \"%s\": only INT and REAL have a unit (rule C10)",
        param->name);
    TRY(check_choices(param, why));
    TRY(check_bounds(param, why));
    return check_default(param, why);
}

static int32_t check_params(const struct testcase_schema *testcase,
    const struct param_schema *standard, struct error *why)
{
    for (uint32_t i = 0; i < testcase->params_count; i++) {
        TRY(check_param(&testcase->params[i], standard, why));
        for (uint32_t j = 0; j < i; j++) {
            FAIL_IF(
                strcmp(testcase->params[i].name, testcase->params[j].name) == 0,
                why, NVBW_E_INVALID,
                "parameter \"%s\" is declared twice (rule C10)",
                testcase->params[i].name);
        }
    }
    return NVBW_OK;
}

/* ---- Metrics ------------------------------------------------------------ */

/* "#name": an INT that cannot be less than one, so that there is a cell. */
static int32_t check_counted_axis(
    const struct testcase_schema *testcase, const char *axis, struct error *why)
{
    const struct param_schema *param = schema_param(testcase, axis + 1);
    struct param_schema bare;
    struct quantity_value least;
    FAIL_IF(param == NULL || param->type != NVBW_TYPE_INT ||
                (param->flags & NVBW_PARAM_LIST) != 0,
        why, NVBW_E_INVALID,
        "axis \"%s\" names no INT parameter of the testcase (rule C11)", axis);
    bare = *param;
    bare.min_text = NULL;
    bare.max_text = NULL;
    FAIL_IF(param->min_text == NULL ||
                quantity_param(&bare, param->min_text, &least, NULL) < 0 ||
                least.integer < 1,
        why, NVBW_E_INVALID,
        "axis \"%s\": its parameter needs a minimum of 1 or more (rule C11)",
        axis);
    return NVBW_OK;
}

static int32_t check_axis(
    const struct testcase_schema *testcase, const char *axis, struct error *why)
{
    static const char *const plain[] = { "gpu", "numa", "text", "sizes" };
    if (axis == NULL) {
        return NVBW_OK;
    }
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        if (strcmp(axis, plain[i]) == 0) {
            return NVBW_OK;
        }
    }
    if (strcmp(axis, "rank") == 0) {
        FAIL_IF((testcase->need_features & NVBW_NEED_MPI) == 0, why,
            NVBW_E_INVALID,
            "axis \"rank\" is only for testcases that need MPI (rule C11)");
        return NVBW_OK;
    }
    if (*axis == '#') {
        return check_counted_axis(testcase, axis, why);
    }
    const struct param_schema *param = schema_param(testcase, axis);
    FAIL_IF(param == NULL || (param->flags & NVBW_PARAM_LIST) == 0, why,
        NVBW_E_INVALID,
        "axis \"%.80s\" is none of gpu, numa, rank, text, sizes, a LIST "
        "parameter "
        "of the testcase, or # and an INT parameter (rule C11)",
        axis);
    return NVBW_OK;
}

static int32_t check_axes(const struct testcase_schema *testcase,
    const struct metric_schema *metric, struct error *why)
{
    TRY(check_axis(testcase, metric->rows, why));
    TRY(check_axis(testcase, metric->cols, why));
    FAIL_IF((metric->flags & NVBW_METRIC_PAIRS) != 0 &&
                (metric->rows == NULL || metric->cols == NULL ||
                    strcmp(metric->rows, metric->cols) != 0),
        why, NVBW_E_INVALID,
        "PAIRS takes the same axis for rows and columns (rule C11)");
    return NVBW_OK;
}

static int32_t check_metric(const struct testcase_schema *testcase,
    const struct metric_schema *metric, struct error *why)
{
    struct error reason = { 0 };
    FAIL_IF(!is_name(metric->name), why, NVBW_E_INVALID,
        "the metric name \"%.80s\" is not lower_snake_case (rule C11)",
        shown(metric->name));
    FAIL_IF(name_of(unit_names, metric->unit) == NULL, why, NVBW_E_INVALID,
        "metric \"%s\": unit %u is unknown (rule C7)", metric->name,
        metric->unit);
    FAIL_IF(metric->better != NVBW_HIGHER && metric->better != NVBW_LOWER, why,
        NVBW_E_INVALID,
        "metric \"%s\" does not say whether higher or lower is better "
        "(rule C11)",
        metric->name);
    FAIL_IF((metric->flags & ~(uint32_t)KNOWN_METRIC_FLAGS) != 0, why,
        NVBW_E_INVALID, "metric \"%s\": flags 0x%x are unknown (rule C2)",
        metric->name, metric->flags);
    FAIL_IF(check_axes(testcase, metric, &reason) < 0, why, NVBW_E_INVALID,
        "metric \"%s\": %s", metric->name, reason.text);
    return NVBW_OK;
}

static int32_t check_metrics(
    const struct testcase_schema *testcase, struct error *why)
{
    FAIL_IF(testcase->metrics_count == 0, why, NVBW_E_INVALID,
        "it has no metric, so no cell (rule C11)");
    for (uint32_t i = 0; i < testcase->metrics_count; i++) {
        TRY(check_metric(testcase, &testcase->metrics[i], why));
        for (uint32_t j = 0; j < i; j++) {
            FAIL_IF(strcmp(testcase->metrics[i].name,
                        testcase->metrics[j].name) == 0,
                why, NVBW_E_INVALID,
                "metric \"%s\" is declared twice (rule C11)",
                testcase->metrics[i].name);
        }
    }
    return NVBW_OK;
}

/* ---- Testcases and the plugin ------------------------------------------- */

static int32_t check_testcase(const struct plugin_schema *plugin,
    uint32_t index, const struct param_schema *standard, struct error *why)
{
    const struct testcase_schema *testcase = &plugin->testcases[index];
    FAIL_IF(!is_name(testcase->name), why, NVBW_E_INVALID,
        "its name is not lower_snake_case (rule C8)");
    for (uint32_t i = 0; i < index; i++) {
        FAIL_IF(strcmp(plugin->testcases[i].name, testcase->name) == 0, why,
            NVBW_E_INVALID,
            "the plugin has another testcase of this name (rule C8)");
    }
    FAIL_IF((testcase->need_features & ~(uint64_t)KNOWN_FEATURES) != 0, why,
        NVBW_E_INVALID,
        "it needs features 0x%llx, which this host does not know (rule C9)",
        (unsigned long long)(testcase->need_features &
                             ~(uint64_t)KNOWN_FEATURES));
    TRY(check_params(testcase, standard, why));
    return check_metrics(testcase, why);
}

static int32_t check_plugin(
    const struct plugin_schema *plugin, struct error *why)
{
    FAIL_IF(!is_name(plugin->name), why, NVBW_E_INVALID,
        "its name \"%.80s\" is not lower_snake_case (rule C2)",
        shown(plugin->name));
    FAIL_IF(plugin->version == NULL || *plugin->version == '\0', why,
        NVBW_E_INVALID, "it has no version (rule C2)");
    FAIL_IF((plugin->flags & ~(uint32_t)KNOWN_PLUGIN_FLAGS) != 0, why,
        NVBW_E_INVALID, "its flags 0x%x are unknown (rule C2)", plugin->flags);
    FAIL_IF(plugin->min_host_minor > NVBW_ABI_MINOR, why, NVBW_E_INVALID,
        "it needs a host with contract minor %u, this one has %d: update "
        "nvbw-host (rule C6)",
        plugin->min_host_minor, NVBW_ABI_MINOR);
    FAIL_IF(plugin->testcases_count == 0, why, NVBW_E_INVALID,
        "it has no testcases (rule C2)");
    return NVBW_OK;
}

/* A testcase must have some name, so that lists can show its problem. */
static int32_t name_nameless(struct testcase_schema *testcase, uint32_t index,
    struct arena *arena, struct error *err)
{
    if (testcase->name == NULL || *testcase->name == '\0') {
        testcase->name = arena_format(arena, "(testcase %u)", index + 1);
        FAIL_IF(testcase->name == NULL, err, NVBW_E_SYSTEM,
            "no memory for the testcases of a plugin");
    }
    return NVBW_OK;
}

static int32_t mark_plugin(struct plugin_schema *plugin,
    const struct error *why, struct arena *arena, struct error *err)
{
    plugin->state = STATE_ERROR;
    plugin->reason = "refused";
    plugin->message = arena_format(arena, "plugin %s: %s",
        plugin->file == NULL ? shown(plugin->name) : plugin->file, why->text);
    FAIL_IF(plugin->message == NULL, err, NVBW_E_SYSTEM,
        "no memory for a plugin's mistake");
    return NVBW_OK;
}

int32_t schema_check(struct plugin_schema *plugin,
    const struct param_schema *standard, struct arena *arena, struct error *err)
{
    struct error why = { 0 };
    if (plugin->state != STATE_NONE) {
        return NVBW_OK;
    }
    if (check_plugin(plugin, &why) < 0) {
        return mark_plugin(plugin, &why, arena, err);
    }
    for (uint32_t i = 0; i < plugin->testcases_count; i++) {
        struct testcase_schema *testcase = &plugin->testcases[i];
        TRY(name_nameless(testcase, i, arena, err));
        if (testcase->problem != NULL ||
            check_testcase(plugin, i, standard, &why) == NVBW_OK) {
            continue;
        }
        testcase->problem = arena_format(
            arena, "testcase \"%.80s\": %s", testcase->name, why.text);
        FAIL_IF(testcase->problem == NULL, err, NVBW_E_SYSTEM,
            "no memory for a testcase's mistake");
    }
    return NVBW_OK;
}
