/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "quantity.h"

#include <stdio.h>
#include <string.h>

static int32_t parse_choice(const struct param_schema *param, const char *text,
    int64_t *out, struct error *err)
{
    char names[256] = "";
    size_t used = 0;

    for (uint32_t i = 0; i < param->choices_count; i++) {
        if (text != NULL && strcmp(param->choices[i], text) == 0) {
            *out = i;
            return NVBW_OK;
        }
        if (used < sizeof names) {
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                i == 0 ? "" : ", ", param->choices[i]);
        }
    }
    return error_set(err, NVBW_E_INVALID, "\"%.80s\" is not one of %s",
        text == NULL ? "" : text, names);
}

/* param_int gives sizes and durations as signed numbers. */
static int32_t set_unsigned(
    const char *text, uint64_t value, int64_t *out, struct error *err)
{
    FAIL_IF(value > INT64_MAX, err, NVBW_E_INVALID,
        "\"%.80s\" is too large for a parameter", text);
    *out = (int64_t)value;
    return NVBW_OK;
}

static int32_t parse_value(const struct param_schema *param, const char *text,
    struct quantity_value *out, struct error *err)
{
    int flag = 0;
    uint64_t bulk = 0;

    *out = (struct quantity_value){ 0 };
    switch (param->type) {
    case NVBW_TYPE_BOOL:
        TRY(quantity_bool(text, &flag, err));
        out->integer = flag;
        return NVBW_OK;
    case NVBW_TYPE_INT:
        return quantity_int(text, &out->integer, err);
    case NVBW_TYPE_SIZE:
        TRY(quantity_size(text, &bulk, err));
        return set_unsigned(text, bulk, &out->integer, err);
    case NVBW_TYPE_DURATION:
        TRY(quantity_duration(text, &bulk, err));
        return set_unsigned(text, bulk, &out->integer, err);
    case NVBW_TYPE_REAL:
        return quantity_real(text, param->unit, &out->real, err);
    case NVBW_TYPE_TEXT:
    case NVBW_TYPE_GROUP:
        FAIL_IF(text == NULL, err, NVBW_E_INVALID, "the text is missing");
        return NVBW_OK;
    case NVBW_TYPE_ENUM:
        return parse_choice(param, text, &out->integer, err);
    default:
        return error_set(err, NVBW_E_INVALID, "the type %u is unknown",
            (unsigned)param->type);
    }
}

/* -1, 0, 1 as one is less than, equal to or greater than the other. */
static int compare(const struct param_schema *param,
    const struct quantity_value *one, const struct quantity_value *other)
{
    if (param->type == NVBW_TYPE_REAL) {
        return (one->real > other->real) - (one->real < other->real);
    }
    return (one->integer > other->integer) - (one->integer < other->integer);
}

static int32_t check_bound(const struct param_schema *param, const char *text,
    const struct quantity_value *value, const char *bound_text, int sign,
    struct error *err)
{
    struct quantity_value bound;

    if (bound_text == NULL) {
        return NVBW_OK;
    }
    TRY(parse_value(param, bound_text, &bound, err));
    FAIL_IF(compare(param, value, &bound) == sign, err, NVBW_E_INVALID,
        "\"%.80s\" is %s the %s \"%.80s\"", text, sign < 0 ? "below" : "above",
        sign < 0 ? "minimum" : "maximum", bound_text);
    return NVBW_OK;
}

static int32_t parse_bounded(const struct param_schema *param, const char *text,
    struct quantity_value *out, struct error *err)
{
    TRY(parse_value(param, text, out, err));
    if (param->type == NVBW_TYPE_TEXT || param->type == NVBW_TYPE_ENUM ||
        param->type == NVBW_TYPE_BOOL || param->type == NVBW_TYPE_GROUP) {
        return NVBW_OK;
    }
    TRY(check_bound(param, text, out, param->min_text, -1, err));
    return check_bound(param, text, out, param->max_text, 1, err);
}

int32_t quantity_param(const struct param_schema *param, const char *text,
    struct quantity_value *out_value, struct error *err)
{
    struct error why;
    struct quantity_value value;
    const int32_t status = parse_bounded(param, text, &value, &why);

    if (status < 0) {
        return error_set(
            err, status, "parameter \"%.80s\": %.800s", param->name, why.text);
    }
    *out_value = value;
    return NVBW_OK;
}
