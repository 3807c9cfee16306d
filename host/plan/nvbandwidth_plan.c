/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "nvbandwidth_plan.h"

#include <sha256.h>
#include <stdlib.h>
#include <string.h>

#include "devices.h"
#include "nvbandwidth_names.h"
#include "plan_value.h"

enum { NAME_BYTES = 128 };

/* A plan being made. */
struct maker {
    const struct nvbandwidth_flags *flags;
    struct arena *arena;
    struct plan *plan;
    struct problems *problems;
    struct error *err;
    uint32_t version;
};

static int32_t no_memory(struct error *err)
{
    return error_set(err, NVBW_E_SYSTEM, "no memory for the plan");
}

/* ---- Values -------------------------------------------------------------- */

/* "command line: -b 64", as problems and the journal show it. */
static struct origin origin_of(
    const struct maker *maker, const char *flag, const char *value)
{
    if (flag == NULL) {
        return (struct origin){ "default of the nvbandwidth flags", 0 };
    }
    return (struct origin){ arena_format(maker->arena, "command line: %s%s%s",
                                flag, value == NULL ? "" : " ",
                                value == NULL ? "" : value),
        0 };
}

static int32_t add_value(const struct maker *maker, struct plan_value **list,
    uint32_t *count, const struct plan_value *value)
{
    struct plan_value *const grown =
        arena_append(maker->arena, *list, count, sizeof *grown);
    const char **const texts = arena_alloc(maker->arena, 1, sizeof *texts);

    if (grown == NULL || texts == NULL) {
        return no_memory(maker->err);
    }
    *list = grown;
    texts[0] = value->texts[0];
    grown[*count - 1] = *value;
    grown[*count - 1].texts = texts;
    return texts[0] == NULL ? no_memory(maker->err) : NVBW_OK;
}

/* One row: the parameter, what it is without a flag, and the flag. */
struct parameter {
    const char *name, *text;
    const char *flag, *given; /* NULL: not given */
    const char *unit;         /* put behind what is given */
    uint32_t kind;
};

static int32_t add_parameter(
    const struct maker *maker, const struct parameter *parameter)
{
    const char *text = parameter->given == NULL
                           ? parameter->text
                           : arena_format(maker->arena, "%s%s",
                                 parameter->given, parameter->unit);
    const struct plan_value value = { .name = parameter->name,
        .texts = &text,
        .texts_count = 1,
        .kind = parameter->kind,
        .origin =
            origin_of(maker, parameter->given == NULL ? NULL : parameter->flag,
                parameter->given) };

    return add_value(
        maker, &maker->plan->params, &maker->plan->params_count, &value);
}

/* A switch, which is given or not. */
static int32_t add_switch(
    const struct maker *maker, const char *name, int is_given, const char *flag)
{
    const char *text = is_given ? "false" : "true";
    const struct plan_value value = { .name = name,
        .texts = &text,
        .texts_count = 1,
        .kind = PLAN_BOOL,
        .origin = origin_of(maker, is_given ? flag : NULL, NULL) };

    return add_value(
        maker, &maker->plan->params, &maker->plan->params_count, &value);
}

static int32_t add_parameters(const struct maker *maker)
{
    const struct nvbandwidth_flags *const flags = maker->flags;
    const struct parameter rows[] = {
        { "mode", "fixed", NULL, NULL, "", PLAN_TEXT },
        { "buffer_size", "512 MiB", "-b", flags->buffer_mib, " MiB",
            PLAN_TEXT },
        { "copies", "16", "--loopCount", flags->loop_count, "", PLAN_NUMBER },
        { "samples", "3", "-i", flags->samples, "", PLAN_NUMBER },
        { "warmup", "4", NULL, NULL, "", PLAN_NUMBER },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        TRY(add_parameter(maker, &rows[i]));
    }
    TRY(add_switch(maker, "verify", flags->skip_verification, "-s"));
    return add_switch(maker, "affinity", flags->disable_affinity, "-d");
}

static int32_t add_format(const struct maker *maker, const char *name,
    const char *text, const char *flag, const char *given)
{
    const struct plan_value value = { .name = name,
        .texts = &text,
        .texts_count = 1,
        .kind = PLAN_TEXT,
        .origin = origin_of(maker, flag, given) };

    return add_value(maker, &maker->plan->nvbandwidth,
        &maker->plan->nvbandwidth_count, &value);
}

/* ---- Output -------------------------------------------------------------- */

static int32_t add_report(const struct maker *maker, const char *format)
{
    struct plan_report *const report = arena_append(
        maker->arena, NULL, &maker->plan->reports_count, sizeof *report);

    if (report == NULL) {
        return no_memory(maker->err);
    }
    *report = (struct plan_report){ format, "-" };
    maker->plan->reports = report;
    return NVBW_OK;
}

static int32_t add_output(const struct maker *maker)
{
    const struct nvbandwidth_flags *const flags = maker->flags;
    const char *const format = flags->format == NULL ? "text" : flags->format;
    const int is_json = flags->json || strcmp(format, "json") == 0;
    const int is_perf = flags->perf || strcmp(format, "perf") == 0;

    FAIL_IF(!is_json && !is_perf && strcmp(format, "text") != 0, maker->err,
        NVBW_E_INVALID, "--format \"%.80s\" is not one of text, json, perf",
        format);
    FAIL_IF(is_json && is_perf, maker->err, NVBW_E_INVALID,
        "JSON and the perf formatter exclude each other");
    TRY(add_format(maker, "version",
        maker->version == NVBANDWIDTH_0_8 ? "0.8" : "0.10",
        flags->version == NULL ? NULL : "--nvbandwidth-version",
        flags->version));
    if (flags->use_mean) {
        TRY(add_format(maker, "mean", "true", "-m", NULL));
    }
    if (flags->verbose) {
        TRY(add_format(maker, "verbose", "true", "-v", NULL));
    }
    if (is_perf) {
        TRY(add_format(maker, "perf", "true", "--perfFormatter", NULL));
    }
    return add_report(maker, is_json ? "nvbandwidth-json" : "nvbandwidth");
}

/* ---- Testcases ----------------------------------------------------------- */

static uint32_t count_same(const struct plan *plan, const char *name)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < plan->suites_count; i++) {
        count += strcmp(plan->suites[i].tests[0], name) == 0 ? 1 : 0;
    }
    return count;
}

/* A suite of its own keeps the order; a testcase that is asked for twice runs
 * twice. */
static int32_t add_suite(
    const struct maker *maker, const char *name, struct origin origin)
{
    struct plan *const plan = maker->plan;
    const struct nvbandwidth_name *const known = nvbandwidth_find(name);
    const uint32_t same = count_same(plan, name);
    const char **const tests = arena_alloc(maker->arena, 1, sizeof *tests);
    struct plan_suite *const grown = arena_append(
        maker->arena, plan->suites, &plan->suites_count, sizeof *grown);

    if (grown == NULL || tests == NULL) {
        return no_memory(maker->err);
    }
    plan->suites = grown;
    tests[0] = arena_text(maker->arena, name);
    grown[plan->suites_count - 1] = (struct plan_suite){
        .plugin = known == NULL ? tests[0] : known->plugin,
        .id = same == 0 ? tests[0]
                        : arena_format(maker->arena, "%s_%u", name, same + 1),
        .enabled = 1,
        .tests = tests,
        .tests_count = 1,
        .origin = origin,
    };
    return tests[0] == NULL || grown[plan->suites_count - 1].id == NULL
               ? no_memory(maker->err)
               : NVBW_OK;
}

static int32_t check_name(const struct maker *maker, const char *name)
{
    const size_t length = strspn(name,
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.");

    FAIL_IF(length == 0 || name[length] != '\0' || length >= NAME_BYTES,
        maker->err, NVBW_E_INVALID,
        "-t \"%.80s\" is neither the name nor the number of a testcase; "
        "nvbw-host -l lists them",
        name);
    return NVBW_OK;
}

/* A number is looked up in the chosen version's list, and said. */
static int32_t add_asked(const struct maker *maker, const char *word)
{
    char *end = NULL;
    const unsigned long number = strtoul(word, &end, 10);
    const struct origin origin = origin_of(maker, "-t", word);
    const struct nvbandwidth_name *found = NULL;

    TRY(check_name(maker, word));
    if (*end != '\0') {
        return add_suite(maker, word, origin);
    }
    found = number < NVBANDWIDTH_NAMES
                ? nvbandwidth_at(maker->version, (uint32_t)number)
                : NULL;
    if (found == NULL) {
        return add_suite(maker, word, origin);
    }
    problem_add(maker->problems, origin, 1,
        "number %lu of nvbandwidth %s is %s", number,
        maker->version == NVBANDWIDTH_0_8 ? "0.8" : "0.10", found->name);
    return add_suite(maker, found->name, origin);
}

static const char *prefix_of(const struct maker *maker, const char *name)
{
    for (uint32_t i = 0; i < maker->flags->prefixes_count; i++) {
        const char *const prefix = maker->flags->prefixes[i];

        if (strncmp(prefix, name, strlen(prefix)) == 0) {
            return prefix;
        }
    }
    return NULL;
}

/* The whole list, or what begins with one of the prefixes. */
static int32_t add_listed(const struct maker *maker)
{
    const int all = maker->flags->prefixes_count == 0;

    for (uint32_t i = 0; i < nvbandwidth_count(maker->version); i++) {
        const char *const name = nvbandwidth_at(maker->version, i)->name;
        const char *const prefix = prefix_of(maker, name);

        if (all || prefix != NULL) {
            TRY(add_suite(
                maker, name, origin_of(maker, all ? NULL : "-p", prefix)));
        }
    }
    FAIL_IF(maker->plan->suites_count == 0, maker->err, NVBW_E_INVALID,
        "no testcase begins with \"%.80s\"%s; nvbw-host -l lists them",
        maker->flags->prefixes[0],
        maker->flags->prefixes_count > 1 ? " or another of -p" : "");
    return NVBW_OK;
}

static int32_t add_testcases(const struct maker *maker)
{
    const struct nvbandwidth_flags *const flags = maker->flags;

    FAIL_IF(flags->testcases_count > 0 && flags->prefixes_count > 0, maker->err,
        NVBW_E_INVALID, "-t and -p exclude each other");
    if (flags->testcases_count == 0) {
        return add_listed(maker);
    }
    for (uint32_t i = 0; i < flags->testcases_count; i++) {
        TRY(add_asked(maker, flags->testcases[i]));
    }
    return NVBW_OK;
}

/* ---- What the flags cannot mean ------------------------------------------ */

/* Digits, and not only zeros. */
static int is_count(const char *text)
{
    return text[strspn(text, "0123456789")] == '\0' &&
           text[strspn(text, "0")] != '\0';
}

static int32_t check_flags(const struct maker *maker)
{
    const struct nvbandwidth_flags *const flags = maker->flags;

    FAIL_IF(maker->version == 0, maker->err, NVBW_E_INVALID,
        "--nvbandwidth-version \"%.80s\" is not one of 0.8, 0.10",
        flags->version);
    FAIL_IF(flags->buffer_mib != NULL && !is_count(flags->buffer_mib),
        maker->err, NVBW_E_INVALID,
        "-b \"%.80s\" is not a whole number of MiB, at least 1",
        flags->buffer_mib);
    FAIL_IF(flags->pair_count != 0 && flags->pair_count != 2, maker->err,
        NVBW_E_INVALID, "--pair names two GPUs, like --pair 0 1");
    for (uint32_t i = 0; i < flags->pair_count; i++) {
        FAIL_IF(!devices_is_one(flags->pair[i]), maker->err, NVBW_E_INVALID,
            "--pair \"%.80s\" is not one GPU: name it by index, UUID or PCI "
            "address",
            flags->pair[i]);
    }
    if (flags->pairs != NULL) {
        struct error why;

        FAIL_IF(plan_value_rounds(flags->pairs, &why) < 0, maker->err,
            NVBW_E_INVALID, "--targetNumPairs: %.900s", why.text);
    }
    return NVBW_OK;
}

/* One note, however many they are. */
static void note_buffer(const struct maker *maker)
{
    const char *names = NULL;

    for (uint32_t i = 0; i < maker->plan->suites_count; i++) {
        const char *const name = maker->plan->suites[i].tests[0];

        if (nvbandwidth_is_latency(name)) {
            names = names == NULL
                        ? name
                        : arena_format(maker->arena, "%s, %s", names, name);
        }
    }
    if (maker->flags->buffer_mib != NULL && names != NULL) {
        problem_add(maker->problems,
            origin_of(maker, "-b", maker->flags->buffer_mib), 1,
            "does not affect testcases of latency, which always go over 2 MiB: "
            "%s",
            names);
    }
}

static int32_t set_devices(const struct maker *maker)
{
    if (maker->flags->pair_count == 0) {
        return NVBW_OK;
    }
    maker->plan->devices = arena_format(
        maker->arena, "%s,%s", maker->flags->pair[0], maker->flags->pair[1]);
    maker->plan->is_pair = 1;
    return maker->plan->devices == NULL ? no_memory(maker->err) : NVBW_OK;
}

/* ---- The whole ----------------------------------------------------------- */

static void add_to_sum(SHA256_CTX *sum, const char *text)
{
    SHA256_Update(sum, (const uint8_t *)text, strlen(text) + 1);
}

static void add_flag_to_sum(
    SHA256_CTX *sum, const char *flag, const char *given)
{
    if (given != NULL) {
        add_to_sum(sum, flag);
        add_to_sum(sum, given);
    }
}

/* Two runs of one sum were asked for the same. */
static int32_t set_sum(const struct maker *maker)
{
    struct plan *const plan = maker->plan;
    char text[SHA256_DIGEST_STRING_LENGTH];
    SHA256_CTX sum;

    SHA256_Init(&sum);
    for (uint32_t i = 0; i < plan->params_count; i++) {
        add_to_sum(&sum, plan->params[i].texts[0]);
    }
    for (uint32_t i = 0; i < plan->nvbandwidth_count; i++) {
        add_to_sum(&sum, plan->nvbandwidth[i].name);
        add_to_sum(&sum, plan->nvbandwidth[i].texts[0]);
    }
    for (uint32_t i = 0; i < plan->suites_count; i++) {
        add_to_sum(&sum, plan->suites[i].tests[0]);
    }
    add_flag_to_sum(&sum, "--pair", plan->devices);
    add_flag_to_sum(&sum, "--targetNumPairs", maker->flags->pairs);
    plan->sha256 = arena_text(maker->arena, SHA256_End(&sum, text));
    return plan->sha256 == NULL ? no_memory(maker->err) : NVBW_OK;
}

int32_t nvbandwidth_plan(const struct nvbandwidth_flags *flags,
    struct arena *arena, struct plan *out_plan, struct problems *problems,
    struct error *err)
{
    const struct maker maker = { flags, arena, out_plan, problems, err,
        nvbandwidth_version(flags->version) };

    *out_plan = (struct plan){ .name = "nvbandwidth",
        .defaults = { .required = "if_possible" } };
    TRY(check_flags(&maker));
    TRY(add_parameters(&maker));
    TRY(add_output(&maker));
    TRY(add_testcases(&maker));
    note_buffer(&maker);
    if (flags->huge_pages) {
        problem_add(problems, origin_of(&maker, "--useHugePages", NULL), 1,
            "changes nothing: page-locked memory asks for huge pages anyway");
    }
    TRY(set_devices(&maker));
    return set_sum(&maker);
}
