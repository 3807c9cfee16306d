/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "describe_check.h"

#include <string.h>

#include "abi.h"
#include "quantity.h"
#include "standard_types.h"
#include "state.h"

enum { LIST_TEXT_BYTES = 4096 };

static int has_choice(const struct param_schema *param)
{
    for (uint32_t i = 0; i < param->choices_count; i++) {
        if (param->choices[i][0] == '\0') {
            return 0;
        }
    }
    return param->choices_count > 0;
}

/* A key of a group has one default, also one with a comma in it. */
static int is_split(const struct param_schema *param)
{
    return (param->flags & (NVBW_PARAM_LIST | SCHEMA_PARAM_MEMBER)) ==
           NVBW_PARAM_LIST;
}

/* A GROUP is a list of groups with keys, and there is none unless the plan has
 * it. */
static int32_t check_group(const struct testcase_schema *testcase,
    const struct param_schema *param, struct error *err)
{
    const struct param_schema *const next = param + 1;

    FAIL_IF((param->flags & SCHEMA_PARAM_MEMBER) != 0, err, NVBW_E_INVALID,
        "C10: parameter %s is a group within a group", param->name);
    FAIL_IF((param->flags & NVBW_PARAM_LIST) == 0, err, NVBW_E_INVALID,
        "C10: parameter %s is a GROUP without NVBW_PARAM_LIST", param->name);
    FAIL_IF(param->default_text != NULL, err, NVBW_E_INVALID,
        "C10: parameter %s is a GROUP, which has no default", param->name);
    FAIL_IF(next >= testcase->params + testcase->params_count ||
                (next->flags & SCHEMA_PARAM_MEMBER) == 0,
        err, NVBW_E_INVALID, "C10: parameter %s is a GROUP without members",
        param->name);
    return NVBW_OK;
}

/* Each element of a LIST's default by itself. */
static int32_t check_list(
    const struct param_schema *param, const char *list, struct error *err)
{
    char text[LIST_TEXT_BYTES];
    struct quantity_value value;
    char *rest = text;

    FAIL_IF(strlen(list) >= sizeof text, err, NVBW_E_INVALID,
        "C10: the default of parameter %s is too long", param->name);
    memcpy(text, list, strlen(list) + 1);
    while (rest != NULL) {
        const char *element = strsep(&rest, ",");

        element += strspn(element, " ");
        TRY(quantity_param(param, element, &value, err));
    }
    return NVBW_OK;
}

static int32_t check_value(const struct param_schema *param, const char *what,
    const char *text, struct error *err)
{
    struct error why = { 0 };
    int32_t status = NVBW_OK;

    if (text == NULL) {
        return NVBW_OK;
    }
    if (is_split(param)) {
        status = check_list(param, text, &why);
    } else {
        struct quantity_value value;

        status = quantity_param(param, text, &value, &why);
    }
    FAIL_IF(status < 0, err, NVBW_E_INVALID, "C10: the %s of parameter %s: %s",
        what, param->name, why.text);
    return NVBW_OK;
}

static int32_t check_param(const struct testcase_schema *testcase,
    const struct param_schema *param, struct error *err)
{
    FAIL_IF(name_of(type_names, param->type) == NULL, err, NVBW_E_INVALID,
        "C2: parameter %s has type %u, which this host does not know",
        param->name, param->type);
    FAIL_IF(name_of(unit_names, param->unit) == NULL, err, NVBW_E_INVALID,
        "C2: parameter %s has unit %u, which this host does not know",
        param->name, param->unit);
    FAIL_IF(standard_type(param->name) != NULL, err, NVBW_E_INVALID,
        "C10: parameter %s has the name of a standard one", param->name);
    FAIL_IF(schema_param(testcase, param->name) != param, err, NVBW_E_INVALID,
        "C10: parameter %s is declared twice", param->name);
    FAIL_IF(param->type == NVBW_TYPE_ENUM && !has_choice(param), err,
        NVBW_E_INVALID, "C10: parameter %s is an ENUM without choices",
        param->name);
    if (param->type == NVBW_TYPE_GROUP) {
        return check_group(testcase, param, err);
    }
    FAIL_IF(param->default_text == NULL && param->type != NVBW_TYPE_TEXT &&
                (param->flags & SCHEMA_PARAM_MEMBER) == 0,
        err, NVBW_E_INVALID, "C10: parameter %s has no default", param->name);
    TRY(check_value(param, "minimum", param->min_text, err));
    TRY(check_value(param, "maximum", param->max_text, err));
    return check_value(param, "default", param->default_text, err);
}

static int is_axis(const struct testcase_schema *testcase, const char *axis)
{
    static const char *const known[] = { "gpu", "numa", "rank", "text",
        "sizes" };

    if (axis == NULL) {
        return 1;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(axis, known[i]) == 0) {
            return 1;
        }
    }

    const int is_count = axis[0] == '#';
    const struct param_schema *const param =
        schema_param(testcase, axis + is_count);

    if (param == NULL) {
        return 0;
    }
    return is_count ? param->type == NVBW_TYPE_INT &&
                          (param->flags & NVBW_PARAM_LIST) == 0
                    : (param->flags & NVBW_PARAM_LIST) != 0;
}

static int32_t check_axis(const struct testcase_schema *testcase,
    const struct metric_schema *metric, const char *axis, struct error *err)
{
    FAIL_IF(!is_axis(testcase, axis), err, NVBW_E_INVALID,
        "C11: axis \"%s\" of metric %s is none of gpu, numa, rank, text, "
        "sizes, a LIST parameter or # and an INT parameter",
        axis, metric->name);
    return NVBW_OK;
}

static int32_t check_metric(const struct testcase_schema *testcase,
    const struct metric_schema *metric, struct error *err)
{
    FAIL_IF(!abi_is_name(metric->name), err, NVBW_E_INVALID,
        "C11: a metric has no lower_snake_case name");
    FAIL_IF(schema_metric(testcase, metric->name) != metric, err,
        NVBW_E_INVALID, "C11: metric %s is declared twice", metric->name);
    FAIL_IF(name_of(unit_names, metric->unit) == NULL, err, NVBW_E_INVALID,
        "C2: metric %s has unit %u, which this host does not know",
        metric->name, metric->unit);
    FAIL_IF(metric->better != NVBW_HIGHER && metric->better != NVBW_LOWER, err,
        NVBW_E_INVALID,
        "C11: metric %s does not say which way it is better: set .better to "
        "NVBW_HIGHER or NVBW_LOWER",
        metric->name);
    TRY(check_axis(testcase, metric, metric->rows, err));
    return check_axis(testcase, metric, metric->cols, err);
}

static int32_t check_needs(
    const struct testcase_schema *testcase, struct error *err)
{
    const uint64_t known = NVBW_NEED_PEER | NVBW_NEED_NVLINK |
                           NVBW_NEED_MULTICAST | NVBW_NEED_FABRIC |
                           NVBW_NEED_MPI;
    const uint64_t unknown = testcase->need_features & ~known;

    FAIL_IF(unknown != 0, err, NVBW_E_INVALID,
        "C9: it needs features 0x%llx, which this host does not know",
        (unsigned long long)unknown);
    return NVBW_OK;
}

int32_t describe_check_testcase(
    const struct testcase_schema *testcase, struct error *err)
{
    FAIL_IF(!abi_is_name(testcase->name), err, NVBW_E_INVALID,
        "C8: it has no lower_snake_case name");
    FAIL_IF(testcase->summary == NULL, err, NVBW_E_INVALID,
        "C8: it has no summary");
    FAIL_IF(testcase->metrics_count == 0, err, NVBW_E_INVALID,
        "C11: it has no metrics");
    TRY(check_needs(testcase, err));
    for (uint32_t i = 0; i < testcase->params_count; i++) {
        TRY(check_param(testcase, &testcase->params[i], err));
    }
    for (uint32_t i = 0; i < testcase->metrics_count; i++) {
        TRY(check_metric(testcase, &testcase->metrics[i], err));
    }
    return NVBW_OK;
}
