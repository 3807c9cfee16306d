/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Parameters that are lists of groups: from settings to a plan_value, and its
 * keys against what the plugin offers. */
#include <string.h>

#include "nearest.h"
#include "plan_check_parts.h"
#include "plan_read.h"
#include "quantity.h"

/* ---- Reading ------------------------------------------------------------ */

int reader_is_groups(const config_setting_t *setting)
{
    return config_setting_is_list(setting) &&
           config_setting_length(setting) > 0 &&
           config_setting_is_group(config_setting_get_elem(setting, 0));
}

static void read_key(struct reader *reader, const config_setting_t *setting,
    struct plan_group *group)
{
    const char *const text = reader_scalar(reader, setting);

    if (text == NULL) {
        reader_refuse(reader, setting, "one value, not a group or a list");
        return;
    }

    struct plan_pair *const grown =
        reader_append(reader, group->pairs, &group->pairs_count, sizeof *grown);

    if (grown == NULL) {
        return;
    }
    group->pairs = grown;
    grown[group->pairs_count - 1] = (struct plan_pair){
        .key = arena_text(reader->arena, config_setting_name(setting)),
        .text = text,
        .origin = reader_origin(reader, setting),
    };
    reader->without_memory |= grown[group->pairs_count - 1].key == NULL;
}

/* 1, or 0 where the element is no group. */
static int read_group(struct reader *reader, const config_setting_t *list,
    unsigned at, struct plan_value *value)
{
    const config_setting_t *const element = config_setting_get_elem(list, at);
    struct plan_group *const group = &value->groups[at];

    if (!config_setting_is_group(element)) {
        reader_refuse(
            reader, list, "a list of groups, ( { key = value; }, ... )");
        return 0;
    }
    group->origin = reader_origin(reader, element);
    for (int i = 0; i < config_setting_length(element); i++) {
        read_key(reader, config_setting_get_elem(element, (unsigned)i), group);
    }
    value->texts[at] = arena_format(reader->arena, "%s:%u",
        group->origin.file == NULL ? "plan" : group->origin.file,
        (unsigned)group->origin.line);
    reader->without_memory |= value->texts[at] == NULL;
    return 1;
}

int reader_groups(struct reader *reader, const config_setting_t *setting,
    struct plan_value *value)
{
    const uint32_t count = (uint32_t)config_setting_length(setting);

    if (count > PLAN_GROUPS_LIMIT) {
        problem_add(reader->problems, value->origin, 0,
            "\"%s\" has %u groups, it may have %d", value->name,
            (unsigned)count, PLAN_GROUPS_LIMIT);
        return 0;
    }
    value->kind = PLAN_GROUPS;
    value->groups = arena_alloc(reader->arena, count, sizeof *value->groups);
    value->texts = arena_alloc(reader->arena, count, sizeof *value->texts);
    if (value->groups == NULL || value->texts == NULL) {
        reader->without_memory = 1;
        return 0;
    }
    value->groups_count = count;
    value->texts_count = count;
    for (unsigned i = 0; i < count; i++) {
        if (!read_group(reader, setting, i, value)) {
            return 0;
        }
    }
    return 1;
}

/* ---- Keys --------------------------------------------------------------- */

const struct plan_pair *plan_group_find(
    const struct plan_group *group, const char *key)
{
    for (uint32_t i = 0; i < group->pairs_count; i++) {
        if (strcmp(group->pairs[i].key, key) == 0) {
            return &group->pairs[i];
        }
    }
    return NULL;
}

/* A group being checked. */
struct group_check {
    const struct plan_checker *checker;
    const struct testcase_schema *testcase;
    const char *param;
    const struct plan_group *group;
    const char *title; /* "flows, \"ring\"" */
};

static const char *make_title(
    const struct group_check *check, uint32_t at, struct arena *arena)
{
    const struct plan_pair *const name = plan_group_find(check->group, "name");
    const char *const title =
        name != NULL
            ? arena_format(arena, "%s \"%.60s\"", check->param, name->text)
            : arena_format(arena, "%s, group %u", check->param, at + 1);

    return title == NULL ? check->param : title;
}

/* The member of the parameter that has the key, or NULL. */
static const struct param_schema *find_member(
    const struct testcase_schema *testcase, const char *param, const char *key)
{
    const size_t length = strlen(param);

    for (uint32_t i = 0; i < testcase->params_count; i++) {
        const struct param_schema *const member = &testcase->params[i];
        const char *const own = schema_member_key(member);

        if (own != NULL && strncmp(member->name, param, length) == 0 &&
            member->name[length] == '.' &&
            (key == NULL || strcmp(own, key) == 0)) {
            return member;
        }
    }
    return NULL;
}

static void refuse_key(
    const struct group_check *check, const struct plan_pair *pair)
{
    char hint[NEAREST_HINT_BYTES];
    struct nearest nearest;

    nearest_begin(&nearest, pair->key);
    for (uint32_t i = 0; i < check->testcase->params_count; i++) {
        const char *const key = schema_member_key(&check->testcase->params[i]);

        if (key != NULL &&
            find_member(check->testcase, check->param, key) != NULL) {
            nearest_offer(&nearest, key);
        }
    }
    problem_add(check->checker->problems, pair->origin, 0,
        "%s: unknown key \"%.60s\"%s", check->title, pair->key,
        nearest_hint(&nearest, hint));
}

static int check_pair(
    const struct group_check *check, const struct plan_pair *pair)
{
    const struct param_schema *const member =
        find_member(check->testcase, check->param, pair->key);
    struct quantity_value value;
    struct error why = { 0 };

    if (member == NULL) {
        refuse_key(check, pair);
        return 0;
    }
    if (quantity_param(member, pair->text, &value, &why) < 0) {
        problem_add(check->checker->problems, pair->origin, 0, "%s: %.800s",
            check->title, why.text);
        return 0;
    }
    return 1;
}

/* Every key without a default has to be there. */
static int check_missing(const struct group_check *check)
{
    int is_right = 1;

    for (uint32_t i = 0; i < check->testcase->params_count; i++) {
        const struct param_schema *const member = &check->testcase->params[i];
        const char *const key = schema_member_key(member);

        if (key == NULL || member->default_text != NULL ||
            find_member(check->testcase, check->param, key) != member ||
            plan_group_find(check->group, key) != NULL) {
            continue;
        }
        problem_add(check->checker->problems, check->group->origin, 0,
            "%s: the key \"%s\" is missing", check->title, key);
        is_right = 0;
    }
    return is_right;
}

int check_groups(const struct plan_checker *checker,
    const struct testcase_schema *testcase, const struct param_schema *param,
    const struct plan_value *value)
{
    int is_right = 1;

    if (value->kind != PLAN_GROUPS) {
        problem_add(checker->problems, value->origin, 0,
            "parameter \"%s\" is a list of groups, ( { key = value; }, ... )",
            param->name);
        return 0;
    }
    for (uint32_t i = 0; i < value->groups_count; i++) {
        struct group_check check = { checker, testcase, param->name,
            &value->groups[i], NULL };

        check.title = make_title(&check, i, checker->problems->arena);
        for (uint32_t k = 0; k < check.group->pairs_count; k++) {
            is_right &= check_pair(&check, &check.group->pairs[k]);
        }
        is_right &= check_missing(&check);
    }
    return is_right;
}
