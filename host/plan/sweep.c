/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "sweep.h"

#include <string.h>

#include "ladder.h"
#include "select.h"

static int32_t no_memory(struct error *err)
{
    return error_set(err, NVBW_E_SYSTEM, "no memory for the schedule");
}

int32_t sweep_split(const char *text, struct arena *arena,
    const char ***out_values, uint32_t *out_count, struct error *err)
{
    const char **values = NULL;
    uint32_t count = 0;

    for (const char *at = text; at != NULL;) {
        const char *const comma = strchr(at, ',');

        at += strspn(at, " \t");

        size_t length = comma == NULL ? strlen(at) : (size_t)(comma - at);

        while (
            length > 0 && (at[length - 1] == ' ' || at[length - 1] == '\t')) {
            length--;
        }

        const char **const grown =
            arena_append(arena, values, &count, sizeof *grown);

        if (grown == NULL) {
            return no_memory(err);
        }
        values = grown;
        values[count - 1] = arena_text_n(arena, at, length);
        if (values[count - 1] == NULL) {
            return no_memory(err);
        }
        at = comma == NULL ? NULL : comma + 1;
    }
    *out_values = values;
    *out_count = count;
    return NVBW_OK;
}

static int32_t set_one(struct sweep_param *param, const char *text,
    struct arena *arena, struct error *err)
{
    param->values = arena_alloc(arena, 1, sizeof *param->values);
    if (param->values == NULL) {
        return no_memory(err);
    }
    param->values[0] = text;
    param->values_count = 1;
    return NVBW_OK;
}

/* The last choice of p2p stands for the others, one after the other. */
static int is_all_choices(const struct param_schema *schema, const char *text)
{
    return schema->choices_count > 1 && text != NULL &&
           strcmp(schema->name, "p2p") == 0 &&
           strcmp(text, schema->choices[schema->choices_count - 1]) == 0;
}

/* What the elements of "sizes" stand for. */
static int32_t expand_sizes(
    struct sweep_param *param, struct arena *arena, struct error *err)
{
    const char **sizes = NULL;
    uint32_t count = 0;

    for (uint32_t i = 0; i < param->values_count; i++) {
        TRY(ladder_expand(param->values[i], arena, &sizes, &count, err));
    }
    param->values = sizes;
    param->values_count = count;
    return NVBW_OK;
}

static int32_t set_values(const struct param_schema *schema,
    const struct plan_value *value, struct arena *arena,
    struct sweep_param *param, struct error *err)
{
    const int is_list = (schema->flags & NVBW_PARAM_LIST) != 0;
    const char *const scalar = value == NULL    ? schema->default_text
                               : value->is_list ? NULL
                                                : value->texts[0];

    if (scalar == NULL && value != NULL) {
        param->values = value->texts;
        param->values_count = value->texts_count;
        param->is_swept = !is_list && value->texts_count > 1;
        return NVBW_OK;
    }
    if (is_all_choices(schema, scalar)) {
        param->values = schema->choices;
        param->values_count = schema->choices_count - 1;
        param->is_swept = 1;
        return NVBW_OK;
    }
    if (is_list) {
        return sweep_split(scalar == NULL ? "" : scalar, arena, &param->values,
            &param->values_count, err);
    }
    return set_one(param, scalar == NULL ? "" : scalar, arena, err);
}

/* A key's value in each group of its parameter, or its default. */
static int32_t set_members(const struct param_schema *schema,
    const struct plan_value *groups, struct arena *arena,
    struct sweep_param *param, struct error *err)
{
    const uint32_t count = groups == NULL ? 0 : groups->groups_count;
    const char *const key = schema_member_key(schema);

    param->values = arena_alloc(arena, count, sizeof *param->values);
    if (param->values == NULL) {
        return no_memory(err);
    }
    param->values_count = count;
    for (uint32_t i = 0; i < count; i++) {
        const struct plan_pair *const pair =
            plan_group_find(&groups->groups[i], key);

        param->values[i] = pair != NULL                   ? pair->text
                           : schema->default_text != NULL ? schema->default_text
                                                          : "";
    }
    return NVBW_OK;
}

/* The GROUP parameter that the member belongs to, as the plan has it. */
static const struct plan_value *groups_of(const struct plan *plan,
    const struct plan_suite *suite, const struct param_schema *member,
    struct arena *arena)
{
    const char *const name =
        arena_text_n(arena, member->name, strcspn(member->name, "."));

    return name == NULL ? NULL : select_value(plan, suite, name);
}

static int32_t add_param(const struct plan *plan,
    const struct plan_suite *suite, const struct param_schema *schema,
    struct arena *arena, struct sweep *sweep, struct error *err)
{
    struct sweep_param *const grown =
        arena_append(arena, sweep->params, &sweep->params_count, sizeof *grown);

    if (grown == NULL) {
        return no_memory(err);
    }
    sweep->params = grown;

    struct sweep_param *const param = &grown[sweep->params_count - 1];

    param->name = schema->name;
    if (schema_member_key(schema) != NULL) {
        return set_members(
            schema, groups_of(plan, suite, schema, arena), arena, param, err);
    }
    if (schema->type == NVBW_TYPE_GROUP &&
        select_value(plan, suite, schema->name) == NULL) {
        return NVBW_OK; /* none */
    }
    TRY(set_values(
        schema, select_value(plan, suite, schema->name), arena, param, err));
    return schema == standard_param("sizes") ? expand_sizes(param, arena, err)
                                             : NVBW_OK;
}

static int32_t count_points(const struct testcase_schema *testcase,
    struct sweep *sweep, struct error *err)
{
    uint64_t points = 1;

    for (uint32_t i = 0; i < sweep->params_count; i++) {
        points *= sweep->params[i].is_swept ? sweep->params[i].values_count : 1;
        FAIL_IF(points > SWEEP_POINTS_LIMIT, err, NVBW_E_INVALID,
            "testcase %s: the sweep has more than %d points, sweep fewer "
            "values at once",
            testcase->name, SWEEP_POINTS_LIMIT);
    }
    sweep->points = (uint32_t)points;
    return NVBW_OK;
}

int32_t sweep_build(const struct plan *plan, const struct plan_suite *suite,
    const struct testcase_schema *testcase, struct arena *arena,
    struct sweep *out, struct error *err)
{
    *out = (struct sweep){ 0 };
    for (const struct param_schema *at = standard_params; at->name != NULL;
         at++) {
        TRY(add_param(
            plan, suite, select_param(testcase, at->name), arena, out, err));
    }
    for (uint32_t i = 0; i < testcase->params_count; i++) {
        if (standard_param(testcase->params[i].name) == NULL) {
            TRY(add_param(plan, suite, &testcase->params[i], arena, out, err));
        }
    }
    return count_points(testcase, out, err);
}

/* ---- One point ---------------------------------------------------------- */

static int32_t add_sweep_text(struct unit *unit, const char *name,
    const char *value, struct arena *arena, struct error *err)
{
    unit->sweep =
        arena_format(arena, "%s%s%s=%s", unit->sweep == NULL ? "" : unit->sweep,
            unit->sweep == NULL ? "" : ", ", name, value);
    return unit->sweep == NULL ? no_memory(err) : NVBW_OK;
}

int32_t sweep_point(const struct sweep *sweep, uint32_t point,
    struct arena *arena, struct unit *unit, struct error *err)
{
    uint32_t stride = sweep->points;

    unit->params =
        arena_alloc(arena, sweep->params_count, sizeof *unit->params);
    if (unit->params == NULL) {
        return no_memory(err);
    }
    unit->params_count = sweep->params_count;
    for (uint32_t i = 0; i < sweep->params_count; i++) {
        const struct sweep_param *const param = &sweep->params[i];
        struct unit_param *const out = &unit->params[i];

        *out = (struct unit_param){ param->name, param->values,
            param->values_count };
        if (param->is_swept) {
            stride /= param->values_count;
            out->values = &param->values[point / stride % param->values_count];
            out->values_count = 1;
            TRY(add_sweep_text(unit, param->name, out->values[0], arena, err));
        }
    }
    return NVBW_OK;
}
