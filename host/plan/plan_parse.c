/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "plan_layer.h"

#include <libconfig.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "limit.h"
#include "nearest.h"
#include "plan_value.h"

/* What all readers share. */
struct reader {
    struct arena *arena;
    struct problems *problems;
    const struct plan_text *text;
    struct plan_layer *layer;
    uint32_t limits; /* read so far */
    int without_memory;
};

struct member;
typedef void read_fn(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object);

/* A key of a group and what reads it into the struct at hand. */
struct member {
    const char *name;
    read_fn *read;
    size_t offset;        /* of the member */
    size_t count_offset;  /* of its count, or of its has_ flag */
    plan_value_fn *check; /* of each text; NULL: what is right depends on the
                             plugins */
};

#define AT(type, object, offset_)                                              \
    ((type *)(void *)((char *)(object) + (offset_)))

static struct origin origin_of(
    const struct reader *reader, const config_setting_t *setting)
{
    return plan_text_origin(
        reader->text, (uint32_t)config_setting_source_line(setting));
}

static void *append(
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

/* The scalar as a person would write it; NULL for groups and lists. */
static char *scalar_text(struct reader *reader, const config_setting_t *setting)
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

static void refuse_kind(
    struct reader *reader, const config_setting_t *setting, const char *wanted)
{
    problem_add(reader->problems, origin_of(reader, setting), 0,
        "\"%s\" must be %s", config_setting_name(setting), wanted);
}

static void check_text(struct reader *reader, const config_setting_t *setting,
    const struct member *member, const char *text)
{
    struct error why;

    if (member->check != NULL && member->check(text, &why) < 0) {
        problem_add(reader->problems, origin_of(reader, setting), 0,
            "\"%s\": %s", config_setting_name(setting), why.text);
    }
}

static void read_text(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object)
{
    char *const text = scalar_text(reader, setting);

    if (text == NULL) {
        refuse_kind(reader, setting, "a text, not a group or a list");
        return;
    }
    check_text(reader, setting, member, text);
    *AT(const char *, object, member->offset) = text;
}

static void read_flag(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object)
{
    if (config_setting_type(setting) != CONFIG_TYPE_BOOL) {
        refuse_kind(reader, setting, "true or false, without quotes");
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
    const char *const text = scalar_text(reader, element);

    if (text == NULL) {
        refuse_kind(
            reader, setting, "a list of single values, not of groups or lists");
        return 0;
    }

    const char **const grown = append(reader, *list, count, sizeof *grown);

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
        refuse_kind(reader, setting, "a value or a list, not a group");
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

static void read_texts(struct reader *reader, const config_setting_t *setting,
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
static void read_joined(struct reader *reader, const config_setting_t *setting,
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

static void read_value(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object)
{
    struct plan_value value = {
        .name = arena_text(reader->arena, config_setting_name(setting)),
        .is_list = config_setting_is_aggregate(setting),
        .kind = kind_of(setting),
        .origin = origin_of(reader, setting),
    };

    reader->without_memory |= value.name == NULL;
    if (!read_elements(reader, setting, &value.texts, &value.texts_count)) {
        return;
    }
    if (value.texts_count == 0) {
        refuse_kind(reader, setting, "more than an empty list");
        return;
    }
    for (uint32_t i = 0; i < value.texts_count; i++) {
        check_text(reader, setting, member, value.texts[i]);
    }

    struct plan_value **const list =
        AT(struct plan_value *, object, member->offset);
    struct plan_value *const grown = append(reader, *list,
        AT(uint32_t, object, member->count_offset), sizeof *grown);

    if (grown != NULL) {
        *list = grown;
        grown[*AT(uint32_t, object, member->count_offset) - 1] = value;
    }
}

static void read_single(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object)
{
    if (config_setting_is_aggregate(setting)) {
        refuse_kind(reader, setting, "one value, not a group or a list");
        return;
    }
    read_value(reader, setting, member, object);
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
        problem_add(reader->problems, origin_of(reader, setting), 0,
            "parameter \"%s\" stands beside \"plugin\", write params = { %s = "
            "...; }",
            name, name);
        return;
    }
    nearest_begin(&nearest, name);
    for (; members->name != NULL; members++) {
        nearest_offer(&nearest, members->name);
    }
    problem_add(reader->problems, origin_of(reader, setting), 0,
        "unknown key \"%s\" in %s%s", name, where,
        nearest_hint(&nearest, hint));
}

/* rest reads the keys that members do not name; NULL: there are none. */
static void read_group(struct reader *reader, const config_setting_t *group,
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

/* A group whose keys are names of values: params, expect, telemetry. */
static void read_values(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object)
{
    const struct member each = { .read = read_value,
        .offset = member->offset,
        .count_offset = member->count_offset };

    if (!config_setting_is_group(setting)) {
        refuse_kind(reader, setting, "a group, { name = value; }");
        return;
    }
    read_group(reader, setting, no_members, &each, "", object);
}

/* A group whose keys are known. */
static void read_keys(struct reader *reader, const config_setting_t *setting,
    const struct member *members, const char *where, void *object)
{
    if (!config_setting_is_group(setting)) {
        refuse_kind(reader, setting, "a group, { name = value; }");
        return;
    }
    read_group(reader, setting, members, NULL, where, object);
}

/* Calls read for each group of a list of groups. */
static void each_group(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object, read_fn *read)
{
    if (!config_setting_is_list(setting)) {
        refuse_kind(reader, setting, "a list of groups, ( { ... }, { ... } )");
        return;
    }
    for (int i = 0; i < config_setting_length(setting); i++) {
        const config_setting_t *const group =
            config_setting_get_elem(setting, (unsigned)i);

        if (!config_setting_is_group(group)) {
            refuse_kind(
                reader, setting, "a list of groups, ( { ... }, { ... } )");
            return;
        }
        read(reader, group, member, object);
    }
}

/* ---- Limits ------------------------------------------------------------- */

#define LIMIT_MEMBER(member_, read_, check_)                                   \
    {                                                                          \
        .name = #member_, .read = (read_),                                     \
        .offset = offsetof(struct plan_limit, member_), .check = (check_)      \
    }
static const struct member limit_members[] = {
    LIMIT_MEMBER(match, read_text, plan_value_text),
    LIMIT_MEMBER(min, read_text, plan_value_limit),
    LIMIT_MEMBER(max, read_text, plan_value_limit),
    LIMIT_MEMBER(warn, read_text, plan_value_limit),
    LIMIT_MEMBER(devices, read_joined, limit_check_devices),
    LIMIT_MEMBER(pair, read_text, limit_check_pair),
    LIMIT_MEMBER(direction, read_text, plan_value_direction),
    LIMIT_MEMBER(size, read_text, limit_check_size),
    { .name = NULL },
};

static void read_limit(struct reader *reader, const config_setting_t *group,
    const struct member *member, void *object)
{
    struct plan_limit limit = { .rank = reader->limits++,
        .origin = origin_of(reader, group) };

    read_group(reader, group, limit_members, NULL, "a limit", &limit);
    if (limit.match == NULL || (limit.min == NULL && limit.max == NULL)) {
        problem_add(reader->problems, limit.origin, 0,
            "a limit needs \"match\" and one of \"min\" and \"max\"");
        return;
    }

    struct plan_limit **const list =
        AT(struct plan_limit *, object, member->offset);
    struct plan_limit *const grown = append(reader, *list,
        AT(uint32_t, object, member->count_offset), sizeof *grown);

    if (grown != NULL) {
        *list = grown;
        grown[*AT(uint32_t, object, member->count_offset) - 1] = limit;
    }
}

static void read_limits(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object)
{
    each_group(reader, setting, member, object, read_limit);
}

/* ---- Suites ------------------------------------------------------------- */

#define SUITE(member_, check_)                                                 \
    {                                                                          \
        .name = #member_, .read = read_text,                                   \
        .offset = offsetof(struct suite_layer, suite.member_),                 \
        .check = (check_)                                                      \
    }
#define SUITE_LIST(member_, read_)                                             \
    {                                                                          \
        .name = #member_, .read = (read_),                                     \
        .offset = offsetof(struct suite_layer, suite.member_),                 \
        .count_offset = offsetof(struct suite_layer, suite.member_##_count)    \
    }
#define SUITE_SETTING(member_, check_)                                         \
    {                                                                          \
        .name = #member_, .read = read_text,                                   \
        .offset = offsetof(struct suite_layer, suite.settings.member_),        \
        .check = (check_)                                                      \
    }

/* tests = [] says none; an absent key says nothing. */
static void read_suite_texts(struct reader *reader,
    const config_setting_t *setting, const struct member *member, void *object)
{
    struct suite_layer *const suite = object;

    read_texts(reader, setting, member, object);
    if (member->offset == offsetof(struct suite_layer, suite.tests)) {
        suite->has_tests = 1;
    } else {
        suite->has_tags = 1;
    }
}

static const struct member suite_members[] = {
    SUITE(plugin, plan_value_text),
    SUITE(id, plan_value_text),
    SUITE(file, plan_value_text),
    SUITE(sha256, plan_value_sha256),
    {
        .name = "enabled",
        .read = read_flag,
        .offset = offsetof(struct suite_layer, suite.enabled),
        .count_offset = offsetof(struct suite_layer, has_enabled),
    },
    SUITE_LIST(tests, read_suite_texts),
    SUITE_LIST(tags, read_suite_texts),
    SUITE_LIST(params, read_values),
    SUITE_LIST(limits, read_limits),
    SUITE_SETTING(required, plan_value_required),
    SUITE_SETTING(confirm, plan_value_confirm),
    SUITE_SETTING(pass, plan_value_pass),
    SUITE_SETTING(warn, plan_value_limit),
    SUITE_SETTING(isolate, plan_value_isolate),
    { .name = NULL },
};

/* Two suites of one name in one layer cannot be told apart. */
static int is_duplicate(struct reader *reader, const struct plan_suite *suite)
{
    const struct plan_layer *const layer = reader->layer;

    for (uint32_t i = 0; i < layer->suites_count; i++) {
        const struct plan_suite *const other = &layer->suites[i].suite;

        if (strcmp(suite_name(other), suite_name(suite)) == 0) {
            problem_add(reader->problems, suite->origin, 0,
                "suite \"%s\" stands here and at %s:%u, give each an id of its "
                "own",
                suite_name(suite), other->origin.file,
                (unsigned)other->origin.line);
            return 1;
        }
    }
    return 0;
}

static void read_suite(struct reader *reader, const config_setting_t *group,
    const struct member *member, void *object)
{
    struct plan_layer *const layer = reader->layer;
    struct suite_layer suite = { .suite.origin = origin_of(reader, group) };

    (void)member;
    (void)object;
    read_group(reader, group, suite_members, NULL, "a suite", &suite);
    if (suite.suite.plugin == NULL) {
        problem_add(reader->problems, suite.suite.origin, 0,
            "this suite has no \"plugin\"");
        return;
    }
    if (is_duplicate(reader, &suite.suite)) {
        return;
    }

    struct suite_layer *const grown =
        append(reader, layer->suites, &layer->suites_count, sizeof *grown);

    if (grown != NULL) {
        layer->suites = grown;
        grown[layer->suites_count - 1] = suite;
    }
}

static void read_suites(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object)
{
    each_group(reader, setting, member, object, read_suite);
}

/* ---- Accepted defects and reports --------------------------------------- */

#define ACCEPT(member_, check_)                                                \
    {                                                                          \
        .name = #member_, .read = read_text,                                   \
        .offset = offsetof(struct plan_accept, member_), .check = (check_)     \
    }
static const struct member accept_members[] = {
    ACCEPT(device, plan_value_text),
    ACCEPT(cause, plan_value_text),
    ACCEPT(until, plan_value_date),
    ACCEPT(why, plan_value_text),
    { .name = NULL },
};

static void read_accept(struct reader *reader, const config_setting_t *group,
    const struct member *member, void *object)
{
    struct plan *const plan = object;
    struct plan_accept accept = { .origin = origin_of(reader, group) };

    (void)member;
    read_group(
        reader, group, accept_members, NULL, "an accepted defect", &accept);

    struct plan_accept *const grown =
        append(reader, plan->accepts, &plan->accepts_count, sizeof *grown);

    if (grown != NULL) {
        plan->accepts = grown;
        grown[plan->accepts_count - 1] = accept;
    }
}

static void read_accepts(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object)
{
    each_group(reader, setting, member, object, read_accept);
}

static const struct member report_members[] = {
    { .name = "format",
        .read = read_text,
        .offset = offsetof(struct plan_report, format) },
    { .name = "file",
        .read = read_text,
        .offset = offsetof(struct plan_report, file) },
    { .name = NULL },
};

static void read_report(struct reader *reader, const config_setting_t *group,
    const struct member *member, void *object)
{
    struct plan *const plan = object;
    struct plan_report report = { 0 };

    (void)member;
    read_group(reader, group, report_members, NULL, "a report", &report);
    if (report.format == NULL || report.file == NULL) {
        problem_add(reader->problems, origin_of(reader, group), 0,
            "a report needs \"format\" and \"file\"");
        return;
    }

    struct plan_report *const grown =
        append(reader, plan->reports, &plan->reports_count, sizeof *grown);

    if (grown != NULL) {
        plan->reports = grown;
        grown[plan->reports_count - 1] = report;
    }
}

static void read_reports(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object)
{
    reader->layer->has_reports = 1;
    each_group(reader, setting, member, object, read_report);
}

/* ---- The whole ---------------------------------------------------------- */

#define DEFAULTS(member_, check_)                                              \
    {                                                                          \
        .name = #member_, .read = read_text,                                   \
        .offset = offsetof(struct plan, defaults.member_), .check = (check_)   \
    }
static const struct member defaults_members[] = {
    DEFAULTS(required, plan_value_required),
    DEFAULTS(confirm, plan_value_confirm),
    DEFAULTS(pass, plan_value_pass),
    DEFAULTS(warn, plan_value_limit),
    DEFAULTS(isolate, plan_value_isolate),
    { .name = NULL },
};

static void read_defaults(struct reader *reader,
    const config_setting_t *setting, const struct member *member, void *object)
{
    static const struct member param = {
        .read = read_value,
        .offset = offsetof(struct plan, params),
        .count_offset = offsetof(struct plan, params_count),
    };

    (void)member;
    if (!config_setting_is_group(setting)) {
        refuse_kind(reader, setting, "a group, { name = value; }");
        return;
    }
    read_group(reader, setting, defaults_members, &param, "defaults", object);
}

#define PLAN_LIST(name_, member_, read_, check_)                               \
    {                                                                          \
        .name = (name_), .read = (read_),                                      \
        .offset = offsetof(struct plan, member_),                              \
        .count_offset = offsetof(struct plan, member_##_count),                \
        .check = (check_)                                                      \
    }
#define OPTION(name_, check_) PLAN_LIST(name_, options, read_single, check_)
#define EXPECT(name_, check_) PLAN_LIST(name_, expect, read_single, check_)

static const struct member expect_members[] = {
    EXPECT("gpus", plan_value_count),
    EXPECT("model", plan_value_text),
    EXPECT("nvlink", plan_value_flag),
    EXPECT("nvlinks", plan_value_count),
    EXPECT("pcie_generation", plan_value_count),
    EXPECT("pcie_width", plan_value_count),
    EXPECT("nodes", plan_value_count),
    EXPECT("driver", plan_value_text),
    EXPECT("idle", plan_value_flag),
    { .name = NULL },
};

static const struct member telemetry_members[] = {
    PLAN_LIST("poll", telemetry, read_single, plan_value_duration),
    PLAN_LIST("settle", telemetry, read_single, plan_value_duration),
    PLAN_LIST("ignore", telemetry, read_value, plan_value_text),
    PLAN_LIST("throttled", telemetry, read_single, plan_value_ratio),
    { .name = NULL },
};

static void read_expect(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object)
{
    (void)member;
    read_keys(reader, setting, expect_members, "expect", object);
}

static void read_telemetry(struct reader *reader,
    const config_setting_t *setting, const struct member *member, void *object)
{
    (void)member;
    read_keys(reader, setting, telemetry_members, "telemetry", object);
}

static const struct member plan_members[] = {
    { .name = "name",
        .read = read_text,
        .offset = offsetof(struct plan, name) },
    { .name = "expect", .read = read_expect },
    { .name = "defaults", .read = read_defaults },
    PLAN_LIST("limits", limits, read_limits, NULL),
    { .name = "suites", .read = read_suites },
    { .name = "accept", .read = read_accepts },
    { .name = "reports", .read = read_reports },
    { .name = "telemetry", .read = read_telemetry },
    PLAN_LIST("plugin_path", options, read_value, plan_value_text),
    OPTION("isolate", plan_value_isolate),
    OPTION("mpi", plan_value_flag),
    OPTION("allow_multicast", plan_value_flag),
    OPTION("repeat", plan_value_rounds),
    OPTION("duration", plan_value_duration),
    OPTION("cooldown", plan_value_duration),
    OPTION("budget", plan_value_duration),
    OPTION("baseline", plan_value_text),
    { .name = NULL },
};

static void read_config(struct reader *reader, config_t *config)
{
    if (config_read_string(config, reader->text->text) != CONFIG_TRUE) {
        problem_add(reader->problems,
            plan_text_origin(reader->text, (uint32_t)config_error_line(config)),
            0, "%s", config_error_text(config));
        return;
    }
    read_group(reader, config_root_setting(config), plan_members, NULL,
        "a plan", &reader->layer->plan);
}

int32_t plan_parse(const struct plan_text *text, struct arena *arena,
    struct plan_layer *out, struct problems *problems, struct error *err)
{
    struct reader reader = { arena, problems, text, out, 0, 0 };
    config_t config;

    *out = (struct plan_layer){ 0 };
    config_init(&config);
    read_config(&reader, &config);
    config_destroy(&config);
    FAIL_IF(
        reader.without_memory, err, NVBW_E_SYSTEM, "no memory for the plan");
    return NVBW_OK;
}
