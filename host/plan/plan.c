/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct field origin_list[] = {
    FIELD(origin, TEXT, file),
    FIELD(origin, U32, line),
    FIELD_END,
};
const struct fields origin_fields = FIELDS(origin, origin_list);

static const struct name kind_names[] = {
    { PLAN_TEXT, "text" },
    { PLAN_NUMBER, "number" },
    { PLAN_BOOL, "bool" },
    { PLAN_GROUPS, "groups" },
    { 0, NULL },
};

static const struct field pair_list[] = {
    FIELD(plan_pair, WORD, key),
    FIELD(plan_pair, WORD, text),
    FIELD_STRUCT(plan_pair, origin, &origin_fields),
    FIELD_END,
};
static const struct fields pair_fields = FIELDS(plan_pair, pair_list);

static const struct field group_list[] = {
    FIELD_STRUCT(plan_group, origin, &origin_fields),
    FIELD_STRUCTS(plan_group, pairs, &pair_fields),
    FIELD_END,
};
static const struct fields group_fields = FIELDS(plan_group, group_list);

static const struct field value_list[] = {
    FIELD(plan_value, WORD, name),
    FIELD_LIST(plan_value, TEXTS, texts),
    FIELD(plan_value, U32, is_list),
    FIELD_NAMED(plan_value, kind, kind_names),
    FIELD_STRUCTS(plan_value, groups, &group_fields),
    FIELD_STRUCT(plan_value, origin, &origin_fields),
    FIELD_END,
};
static const struct fields value_fields = FIELDS(plan_value, value_list);

static const struct field limit_list[] = {
    FIELD(plan_limit, WORD, match),
    FIELD(plan_limit, TEXT, min),
    FIELD(plan_limit, TEXT, max),
    FIELD(plan_limit, TEXT, warn),
    FIELD(plan_limit, TEXT, devices),
    FIELD(plan_limit, TEXT, pair),
    FIELD(plan_limit, TEXT, direction),
    FIELD(plan_limit, TEXT, size),
    FIELD(plan_limit, U32, rank),
    FIELD_STRUCT(plan_limit, origin, &origin_fields),
    FIELD_END,
};
static const struct fields limit_fields = FIELDS(plan_limit, limit_list);

static const struct field settings_list[] = {
    FIELD(plan_settings, TEXT, required),
    FIELD(plan_settings, TEXT, confirm),
    FIELD(plan_settings, TEXT, pass),
    FIELD(plan_settings, TEXT, warn),
    FIELD(plan_settings, TEXT, isolate),
    FIELD_END,
};
static const struct fields settings_fields =
    FIELDS(plan_settings, settings_list);

static const struct field suite_list[] = {
    FIELD(plan_suite, WORD, plugin),
    FIELD(plan_suite, TEXT, id),
    FIELD(plan_suite, TEXT, file),
    FIELD(plan_suite, TEXT, sha256),
    FIELD(plan_suite, U32, enabled),
    FIELD_LIST(plan_suite, TEXTS, tests),
    FIELD_LIST(plan_suite, TEXTS, tags),
    FIELD_STRUCTS(plan_suite, params, &value_fields),
    FIELD_STRUCTS(plan_suite, limits, &limit_fields),
    FIELD_STRUCT(plan_suite, settings, &settings_fields),
    FIELD_STRUCT(plan_suite, origin, &origin_fields),
    FIELD_END,
};
static const struct fields suite_fields = FIELDS(plan_suite, suite_list);

static const struct field accept_list[] = {
    FIELD(plan_accept, TEXT, match),
    FIELD(plan_accept, TEXT, device),
    FIELD(plan_accept, TEXT, pair),
    FIELD(plan_accept, TEXT, cause),
    FIELD(plan_accept, TEXT, until),
    FIELD(plan_accept, TEXT, why),
    FIELD(plan_accept, TEXT, ticket),
    FIELD_STRUCT(plan_accept, origin, &origin_fields),
    FIELD_END,
};
static const struct fields accept_fields = FIELDS(plan_accept, accept_list);

static const struct field report_list[] = {
    FIELD(plan_report, WORD, format),
    FIELD(plan_report, WORD, file),
    FIELD_END,
};
static const struct fields report_fields = FIELDS(plan_report, report_list);

static const struct field plan_list[] = {
    FIELD(plan, TEXT, name),
    FIELD_STRUCTS(plan, expect, &value_fields),
    FIELD_STRUCTS(plan, params, &value_fields),
    FIELD_STRUCT(plan, defaults, &settings_fields),
    FIELD_STRUCTS(plan, limits, &limit_fields),
    FIELD_STRUCTS(plan, suites, &suite_fields),
    FIELD_STRUCTS(plan, accepts, &accept_fields),
    FIELD_STRUCTS(plan, reports, &report_fields),
    FIELD_STRUCTS(plan, telemetry, &value_fields),
    FIELD_STRUCTS(plan, nvbandwidth, &value_fields),
    FIELD_STRUCTS(plan, options, &value_fields),
    FIELD_LIST(plan, TEXTS, only),
    FIELD_LIST(plan, TEXTS, tags),
    FIELD(plan, TEXT, devices),
    FIELD_LIST(plan, TEXTS, files),
    FIELD(plan, TEXT, sha256),
    FIELD_END,
};
const struct fields plan_fields = FIELDS(plan, plan_list);

const struct plan_value *plan_option(const struct plan *plan, const char *name)
{
    for (uint32_t i = plan->options_count; i > 0; i--) {
        if (strcmp(plan->options[i - 1].name, name) == 0) {
            return &plan->options[i - 1];
        }
    }
    return NULL;
}

const char *suite_name(const struct plan_suite *suite)
{
    return suite->id != NULL ? suite->id : suite->plugin;
}

/* Text of strangers goes to terminals: nothing in it may steer them. */
static void tame(char *text)
{
    for (char *at = text; *at != '\0'; at++) {
        const unsigned char c = (unsigned char)*at;

        if (c < 0x20 || c == 0x7f) {
            *at = '?';
        }
    }
}

void problem_add(struct problems *problems, struct origin origin,
    int is_warning, const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tame(text);
    if (!is_warning) {
        problems->errors++;
    }

    struct problem *const list = arena_append(
        problems->arena, problems->list, &problems->count, sizeof *list);

    if (list == NULL) {
        return;
    }
    problems->list = list;
    list[problems->count - 1] = (struct problem){
        .is_warning = (uint32_t)(is_warning != 0),
        .origin = origin,
        .text = arena_text(problems->arena, text),
    };
    if (list[problems->count - 1].text == NULL) {
        problems->count--;
    }
}
