/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "plan_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearest.h"

struct origin reader_origin(
    const struct reader *reader, const config_setting_t *setting)
{
    return plan_text_origin(
        reader->text, (uint32_t)config_setting_source_line(setting));
}

void *reader_append(
    struct reader *reader, void *list, uint32_t *count, size_t size)
{
    void *const grown = arena_append(reader->arena, list, count, size);

    if (grown == NULL) {
        reader->without_memory = 1;
    }
    return grown;
}

/* ---- Scalars ------------------------------------------------------------ */

static char *number_text(struct arena *arena, double value)
{
    char text[40];

    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    return arena_text(arena, text);
}

char *reader_scalar(struct reader *reader, const config_setting_t *setting)
{
    char *text = NULL;

    switch (config_setting_type(setting)) {
    case CONFIG_TYPE_STRING:
        text = arena_text(reader->arena, config_setting_get_string(setting));
        break;
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_INT64:
        text = arena_format(
            reader->arena, "%lld", config_setting_get_int64(setting));
        break;
    case CONFIG_TYPE_FLOAT:
        text = number_text(reader->arena, config_setting_get_float(setting));
        break;
    case CONFIG_TYPE_BOOL:
        text = arena_text(
            reader->arena, config_setting_get_bool(setting) ? "true" : "false");
        break;
    default:
        return NULL;
    }
    if (text == NULL) {
        reader->without_memory = 1;
    }
    return text;
}

static uint32_t kind_of(const config_setting_t *setting)
{
    if (config_setting_is_number(setting)) {
        return PLAN_NUMBER;
    }
    return config_setting_type(setting) == CONFIG_TYPE_BOOL ? PLAN_BOOL
                                                            : PLAN_TEXT;
}

void reader_refuse(
    struct reader *reader, const config_setting_t *setting, const char *wanted)
{
    problem_add(reader->problems, reader_origin(reader, setting), 0,
        "\"%s\" must be %s", config_setting_name(setting), wanted);
}

static void check_text(struct reader *reader, const config_setting_t *setting,
    const struct member *member, const char *text)
{
    struct error why;

    if (member->check != NULL && member->check(text, &why) < 0) {
        problem_add(reader->problems, reader_origin(reader, setting), 0,
            "\"%s\": %s", config_setting_name(setting), why.text);
    }
}

void reader_text(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object)
{
    char *const text = reader_scalar(reader, setting);

    if (text == NULL) {
        reader_refuse(reader, setting, "a text, not a group or a list");
        return;
    }
    check_text(reader, setting, member, text);
    *AT(const char *, object, member->offset) = text;
}

void reader_flag(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object)
{
    if (config_setting_type(setting) != CONFIG_TYPE_BOOL) {
        reader_refuse(reader, setting, "true or false, without quotes");
        return;
    }
    *AT(uint32_t, object, member->offset) =
        (uint32_t)(config_setting_get_bool(setting) != 0);
    *AT(uint32_t, object, member->count_offset) = 1;
}

/* ---- Lists of texts ----------------------------------------------------- */

static int add_element(struct reader *reader, const config_setting_t *setting,
    const config_setting_t *element, const char ***list, uint32_t *count)
{
    const char *const text = reader_scalar(reader, element);

    if (text == NULL) {
        reader_refuse(
            reader, setting, "a list of single values, not of groups or lists");
        return 0;
    }

    const char **const grown =
        reader_append(reader, *list, count, sizeof *grown);

    if (grown == NULL) {
        return 0;
    }
    grown[*count - 1] = text;
    *list = grown;
    return 1;
}

/* A scalar is a list of one. */
static int read_elements(struct reader *reader, const config_setting_t *setting,
    const char ***out, uint32_t *out_count)
{
    *out = NULL;
    *out_count = 0;
    if (!config_setting_is_aggregate(setting)) {
        return add_element(reader, setting, setting, out, out_count);
    }
    if (config_setting_is_group(setting)) {
        reader_refuse(reader, setting, "a value or a list, not a group");
        return 0;
    }
    for (int i = 0; i < config_setting_length(setting); i++) {
        if (!add_element(reader, setting,
                config_setting_get_elem(setting, (unsigned)i), out,
                out_count)) {
            return 0;
        }
    }
    return 1;
}

void reader_texts(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object)
{
    const char **list = NULL;
    uint32_t count = 0;

    if (read_elements(reader, setting, &list, &count)) {
        *AT(const char **, object, member->offset) = list;
        *AT(uint32_t, object, member->count_offset) = count;
    }
}

/* As a limit writes devices: "0,1,2", or a list of them. */
void reader_joined(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object)
{
    const char **list = NULL;
    uint32_t count = 0;

    if (!read_elements(reader, setting, &list, &count)) {
        return;
    }

    char *joined = arena_text(reader->arena, count == 0 ? "" : list[0]);

    for (uint32_t i = 1; joined != NULL && i < count; i++) {
        joined = arena_format(reader->arena, "%s,%s", joined, list[i]);
    }
    if (joined == NULL) {
        reader->without_memory = 1;
        return;
    }
    check_text(reader, setting, member, joined);
    *AT(const char *, object, member->offset) = joined;
}

/* ---- Values that keep name and place ------------------------------------ */

static struct plan_value begin_value(
    struct reader *reader, const config_setting_t *setting)
{
    const struct plan_value value = {
        .name = arena_text(reader->arena, config_setting_name(setting)),
        .is_list = config_setting_is_aggregate(setting),
        .kind = kind_of(setting),
        .origin = reader_origin(reader, setting),
    };

    reader->without_memory |= value.name == NULL;
    return value;
}

static void add_value(struct reader *reader, const struct member *member,
    void *object, const struct plan_value *value)
{
    struct plan_value **const list =
        AT(struct plan_value *, object, member->offset);
    struct plan_value *const grown = reader_append(reader, *list,
        AT(uint32_t, object, member->count_offset), sizeof *grown);

    if (grown != NULL) {
        *list = grown;
        grown[*AT(uint32_t, object, member->count_offset) - 1] = *value;
    }
}

void reader_value(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object)
{
    struct plan_value value = begin_value(reader, setting);

    if (!read_elements(reader, setting, &value.texts, &value.texts_count)) {
        return;
    }
    if (value.texts_count == 0) {
        reader_refuse(reader, setting, "more than an empty list");
        return;
    }
    for (uint32_t i = 0; i < value.texts_count; i++) {
        check_text(reader, setting, member, value.texts[i]);
    }
    add_value(reader, member, object, &value);
}

void reader_param(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object)
{
    struct plan_value value = begin_value(reader, setting);

    if (!reader_is_groups(setting)) {
        reader_value(reader, setting, member, object);
    } else if (reader_groups(reader, setting, &value)) {
        add_value(reader, member, object, &value);
    }
}

void reader_single(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object)
{
    if (config_setting_is_aggregate(setting)) {
        reader_refuse(reader, setting, "one value, not a group or a list");
        return;
    }
    reader_value(reader, setting, member, object);
}

/* ---- Groups ------------------------------------------------------------- */

static const struct member *find_member(
    const struct member *members, const char *name)
{
    for (; members->name != NULL; members++) {
        if (strcmp(members->name, name) == 0) {
            return members;
        }
    }
    return NULL;
}

static void refuse_key(struct reader *reader, const config_setting_t *setting,
    const struct member *members, const char *where)
{
    const char *const name = config_setting_name(setting);
    char hint[NEAREST_HINT_BYTES];
    struct nearest nearest;

    if (strcmp(where, "a suite") == 0 && standard_param(name) != NULL) {
        problem_add(reader->problems, reader_origin(reader, setting), 0,
            "parameter \"%s\" stands beside \"plugin\", write params = { %s = "
            "...; }",
            name, name);
        return;
    }
    nearest_begin(&nearest, name);
    for (; members->name != NULL; members++) {
        nearest_offer(&nearest, members->name);
    }
    problem_add(reader->problems, reader_origin(reader, setting), 0,
        "unknown key \"%s\" in %s%s", name, where,
        nearest_hint(&nearest, hint));
}

/* rest reads the keys that members do not name; NULL: there are none. */
void reader_group(struct reader *reader, const config_setting_t *group,
    const struct member *members, const struct member *rest, const char *where,
    void *object)
{
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *const setting =
            config_setting_get_elem(group, (unsigned)i);
        const struct member *member =
            find_member(members, config_setting_name(setting));

        if (member == NULL) {
            member = rest;
        }
        if (member == NULL) {
            refuse_key(reader, setting, members, where);
        } else {
            member->read(reader, setting, member, object);
        }
    }
}

static const struct member no_members[] = { { .name = NULL } };

/* A group whose keys are names of parameters. */
void reader_params(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object)
{
    const struct member each = { .read = reader_param,
        .offset = member->offset,
        .count_offset = member->count_offset };

    if (!config_setting_is_group(setting)) {
        reader_refuse(reader, setting, "a group, { name = value; }");
        return;
    }
    reader_group(reader, setting, no_members, &each, "", object);
}

/* A group whose keys are known. */
void reader_keys(struct reader *reader, const config_setting_t *setting,
    const struct member *members, const char *where, void *object)
{
    if (!config_setting_is_group(setting)) {
        reader_refuse(reader, setting, "a group, { name = value; }");
        return;
    }
    reader_group(reader, setting, members, NULL, where, object);
}

/* Calls read for each group of a list of groups. */
void reader_each_group(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object, read_fn *read)
{
    if (!config_setting_is_list(setting)) {
        reader_refuse(
            reader, setting, "a list of groups, ( { ... }, { ... } )");
        return;
    }
    for (int i = 0; i < config_setting_length(setting); i++) {
        const config_setting_t *const group =
            config_setting_get_elem(setting, (unsigned)i);

        if (!config_setting_is_group(group)) {
            reader_refuse(
                reader, setting, "a list of groups, ( { ... }, { ... } )");
            return;
        }
        read(reader, group, member, object);
    }
}
