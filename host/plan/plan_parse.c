/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "plan_layer.h"

#include <string.h>

#include "limit.h"
#include "plan_read.h"

/* ---- Limits ------------------------------------------------------------- */

#define LIMIT_MEMBER(member_, read_, check_)                                   \
    {                                                                          \
        .name = #member_, .read = (read_),                                     \
        .offset = offsetof(struct plan_limit, member_), .check = (check_)      \
    }
static const struct member limit_members[] = {
    LIMIT_MEMBER(match, reader_text, plan_value_text),
    LIMIT_MEMBER(min, reader_text, plan_value_limit),
    LIMIT_MEMBER(max, reader_text, plan_value_limit),
    LIMIT_MEMBER(warn, reader_text, plan_value_limit),
    LIMIT_MEMBER(devices, reader_joined, limit_check_devices),
    LIMIT_MEMBER(pair, reader_text, limit_check_pair),
    LIMIT_MEMBER(direction, reader_text, plan_value_direction),
    LIMIT_MEMBER(size, reader_text, limit_check_size),
    { .name = NULL },
};

static void read_limit(struct reader *reader, const config_setting_t *group,
    const struct member *member, void *object)
{
    struct plan_limit limit = { .rank = reader->limits++,
        .origin = reader_origin(reader, group) };

    reader_group(reader, group, limit_members, NULL, "a limit", &limit);
    if (limit.match == NULL || (limit.min == NULL && limit.max == NULL)) {
        problem_add(reader->problems, limit.origin, 0,
            "a limit needs \"match\" and one of \"min\" and \"max\"");
        return;
    }

    struct plan_limit **const list =
        AT(struct plan_limit *, object, member->offset);
    struct plan_limit *const grown = reader_append(reader, *list,
        AT(uint32_t, object, member->count_offset), sizeof *grown);

    if (grown != NULL) {
        *list = grown;
        grown[*AT(uint32_t, object, member->count_offset) - 1] = limit;
    }
}

static void read_limits(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object)
{
    reader_each_group(reader, setting, member, object, read_limit);
}

/* ---- Suites ------------------------------------------------------------- */

#define SUITE(member_, check_)                                                 \
    {                                                                          \
        .name = #member_, .read = reader_text,                                 \
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
        .name = #member_, .read = reader_text,                                 \
        .offset = offsetof(struct suite_layer, suite.settings.member_),        \
        .check = (check_)                                                      \
    }

/* tests = [] says none; an absent key says nothing. */
static void read_suite_texts(struct reader *reader,
    const config_setting_t *setting, const struct member *member, void *object)
{
    struct suite_layer *const suite = object;

    reader_texts(reader, setting, member, object);
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
        .read = reader_flag,
        .offset = offsetof(struct suite_layer, suite.enabled),
        .count_offset = offsetof(struct suite_layer, has_enabled),
    },
    SUITE_LIST(tests, read_suite_texts),
    SUITE_LIST(tags, read_suite_texts),
    SUITE_LIST(params, reader_params),
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
    struct suite_layer suite = { .suite.origin = reader_origin(reader, group) };

    (void)member;
    (void)object;
    reader_group(reader, group, suite_members, NULL, "a suite", &suite);
    if (suite.suite.plugin == NULL) {
        problem_add(reader->problems, suite.suite.origin, 0,
            "this suite has no \"plugin\"");
        return;
    }
    if (is_duplicate(reader, &suite.suite)) {
        return;
    }

    struct suite_layer *const grown = reader_append(
        reader, layer->suites, &layer->suites_count, sizeof *grown);

    if (grown != NULL) {
        layer->suites = grown;
        grown[layer->suites_count - 1] = suite;
    }
}

static void read_suites(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object)
{
    reader_each_group(reader, setting, member, object, read_suite);
}

/* ---- Accepted defects and reports --------------------------------------- */

#define ACCEPT(member_, check_)                                                \
    {                                                                          \
        .name = #member_, .read = reader_text,                                 \
        .offset = offsetof(struct plan_accept, member_), .check = (check_)     \
    }
static const struct member accept_members[] = {
    ACCEPT(match, plan_value_text),
    ACCEPT(device, plan_value_text),
    ACCEPT(pair, limit_check_pair),
    ACCEPT(cause, plan_value_text),
    ACCEPT(until, plan_value_date),
    ACCEPT(why, plan_value_text),
    ACCEPT(ticket, plan_value_text),
    { .name = NULL },
};

static void read_accept(struct reader *reader, const config_setting_t *group,
    const struct member *member, void *object)
{
    struct plan *const plan = object;
    struct plan_accept accept = { .origin = reader_origin(reader, group) };

    (void)member;
    reader_group(
        reader, group, accept_members, NULL, "an accepted defect", &accept);
    if (accept.why == NULL) {
        problem_add(reader->problems, accept.origin, 0,
            "an accepted defect needs \"why\"");
        return;
    }
    if (accept.match == NULL && accept.device == NULL && accept.pair == NULL &&
        accept.cause == NULL) {
        problem_add(reader->problems, accept.origin, 0,
            "an accepted defect needs one of \"match\", \"device\", "
            "\"pair\" and \"cause\"");
        return;
    }

    struct plan_accept *const grown = reader_append(
        reader, plan->accepts, &plan->accepts_count, sizeof *grown);

    if (grown != NULL) {
        plan->accepts = grown;
        grown[plan->accepts_count - 1] = accept;
    }
}

static void read_accepts(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object)
{
    reader_each_group(reader, setting, member, object, read_accept);
}

static const struct member report_members[] = {
    { .name = "format",
        .read = reader_text,
        .offset = offsetof(struct plan_report, format) },
    { .name = "file",
        .read = reader_text,
        .offset = offsetof(struct plan_report, file) },
    { .name = NULL },
};

static void read_report(struct reader *reader, const config_setting_t *group,
    const struct member *member, void *object)
{
    struct plan *const plan = object;
    struct plan_report report = { 0 };

    (void)member;
    reader_group(reader, group, report_members, NULL, "a report", &report);
    if (report.format == NULL || report.file == NULL) {
        problem_add(reader->problems, reader_origin(reader, group), 0,
            "a report needs \"format\" and \"file\"");
        return;
    }

    struct plan_report *const grown = reader_append(
        reader, plan->reports, &plan->reports_count, sizeof *grown);

    if (grown != NULL) {
        plan->reports = grown;
        grown[plan->reports_count - 1] = report;
    }
}

static void read_reports(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object)
{
    reader->layer->has_reports = 1;
    reader_each_group(reader, setting, member, object, read_report);
}

/* ---- The whole ---------------------------------------------------------- */

#define DEFAULTS(member_, check_)                                              \
    {                                                                          \
        .name = #member_, .read = reader_text,                                 \
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
        .read = reader_param,
        .offset = offsetof(struct plan, params),
        .count_offset = offsetof(struct plan, params_count),
    };

    (void)member;
    if (!config_setting_is_group(setting)) {
        reader_refuse(reader, setting, "a group, { name = value; }");
        return;
    }
    reader_group(reader, setting, defaults_members, &param, "defaults", object);
}

#define PLAN_LIST(name_, member_, read_, check_)                               \
    {                                                                          \
        .name = (name_), .read = (read_),                                      \
        .offset = offsetof(struct plan, member_),                              \
        .count_offset = offsetof(struct plan, member_##_count),                \
        .check = (check_)                                                      \
    }
#define OPTION(name_, check_) PLAN_LIST(name_, options, reader_single, check_)
#define EXPECT(name_, check_) PLAN_LIST(name_, expect, reader_single, check_)

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
    PLAN_LIST("enabled", telemetry, reader_single, plan_value_flag),
    PLAN_LIST("poll", telemetry, reader_single, plan_value_duration),
    PLAN_LIST("settle", telemetry, reader_single, plan_value_duration),
    PLAN_LIST("ignore", telemetry, reader_value, plan_value_text),
    PLAN_LIST("throttled", telemetry, reader_single, plan_value_ratio),
    PLAN_LIST("idle", telemetry, reader_single, plan_value_ratio),
    PLAN_LIST("pcie_replays", telemetry, reader_single, plan_value_count),
    PLAN_LIST("nvlink_replays", telemetry, reader_single, plan_value_count),
    PLAN_LIST("nvlink_recoveries", telemetry, reader_single, plan_value_count),
    PLAN_LIST("nvlink_crc", telemetry, reader_single, plan_value_count),
    PLAN_LIST("ecc_corrected", telemetry, reader_single, plan_value_count),
    PLAN_LIST("ecc_uncorrected", telemetry, reader_single, plan_value_count),
    PLAN_LIST("rows_remapped", telemetry, reader_single, plan_value_count),
    PLAN_LIST("xids", telemetry, reader_single, plan_value_count),
    { .name = NULL },
};

static const struct member nvbandwidth_members[] = {
    PLAN_LIST(
        "version", nvbandwidth, reader_single, plan_value_nvbandwidth_version),
    PLAN_LIST("mean", nvbandwidth, reader_single, plan_value_flag),
    PLAN_LIST("verbose", nvbandwidth, reader_single, plan_value_flag),
    PLAN_LIST("perf", nvbandwidth, reader_single, plan_value_flag),
    { .name = NULL },
};

static void read_expect(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object)
{
    (void)member;
    reader_keys(reader, setting, expect_members, "expect", object);
}

static void read_telemetry(struct reader *reader,
    const config_setting_t *setting, const struct member *member, void *object)
{
    (void)member;
    reader_keys(reader, setting, telemetry_members, "telemetry", object);
}

static void read_nvbandwidth(struct reader *reader,
    const config_setting_t *setting, const struct member *member, void *object)
{
    (void)member;
    reader_keys(reader, setting, nvbandwidth_members, "nvbandwidth", object);
}

static const struct member plan_members[] = {
    { .name = "name",
        .read = reader_text,
        .offset = offsetof(struct plan, name) },
    { .name = "expect", .read = read_expect },
    { .name = "defaults", .read = read_defaults },
    PLAN_LIST("limits", limits, read_limits, NULL),
    { .name = "suites", .read = read_suites },
    { .name = "accept", .read = read_accepts },
    { .name = "reports", .read = read_reports },
    { .name = "telemetry", .read = read_telemetry },
    { .name = "nvbandwidth", .read = read_nvbandwidth },
    PLAN_LIST("plugin_path", options, reader_value, plan_value_text),
    PLAN_LIST("efficiency", options, reader_value, plan_value_text),
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
    reader_group(reader, config_root_setting(config), plan_members, NULL,
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
