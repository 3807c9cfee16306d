/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cmd.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "baseline_file.h"
#include "fleet_report.h"
#include "host_names.h"
#include "report.h"
#include "report_node.h"
#include "text_clean.h"

static const size_t FLEET_LIMIT_BYTES = (size_t)4 << 30;
static const size_t NODE_LIMIT_BYTES = (size_t)4 << 30;
static const size_t TEXT_LIMIT_BYTES = (size_t)1 << 30;

struct merge {
    const struct options *options;
    struct arena scratch; /* of one node */
    struct fleet fleet;
};

/* ---- one run ---- */

/* The journal, judged anew: slow, and for runs without a summary too. */
static int32_t read_whole(
    const char *dir, struct arena *arena, struct node *out, struct error *err)
{
    struct evidence evidence = { 0 };
    struct verdicts verdicts = { 0 };

    TRY(baseline_read(dir, arena, &evidence, err));
    TRY(baseline_fetch(dir, &evidence, arena, err));
    TRY(judge_run(&evidence, arena, &verdicts, err));
    return report_node(&evidence, &verdicts, arena, out, err);
}

static int is_there(const char *dir, const char *name, struct arena *arena)
{
    const char *const file = arena_format(arena, "%s/%s", dir, name);

    return file != NULL && access(file, F_OK) == 0;
}

static int32_t read_short(
    const char *dir, struct arena *arena, struct node *out, struct error *err)
{
    const char *const file = arena_format(arena, "%s/summary.ndjson", dir);

    FAIL_IF(file == NULL, err, NVBW_E_SYSTEM, "out of memory");
    FAIL_IF(!is_there(dir, "summary.ndjson", arena) &&
                is_there(dir, "journal.ndjson", arena),
        err, NVBW_E_INVALID,
        "the run was not finished: `nvbw-host resume` finishes it, --full "
        "takes what is there");
    FAIL_IF(!is_there(dir, "summary.ndjson", arena), err, NVBW_E_INVALID,
        "no run is there");
    return node_read(file, arena, out, err);
}

static int32_t add_run(struct merge *merge, const char *dir, struct error *err)
{
    struct node node = { 0 };
    struct error why = { 0 };
    int32_t status = merge->options->full
                         ? read_whole(dir, &merge->scratch, &node, &why)
                         : read_short(dir, &merge->scratch, &node, &why);

    if (status >= 0) {
        status = fleet_add(&merge->fleet, dir, &node, &why);
        FAIL_IF(status == NVBW_E_SYSTEM, err, NVBW_E_SYSTEM, "%s: %.900s", dir,
            why.text);
    }
    return status < 0 ? fleet_add_trouble(&merge->fleet, dir, why.text, err)
                      : NVBW_OK;
}

/* "runs/a" of "runs/a/": what a shell completes is the same run. */
static const char *without_slash(const char *dir, struct arena *arena)
{
    size_t length = strlen(dir);

    while (length > 1 && dir[length - 1] == '/') {
        length--;
    }
    return arena_text_n(arena, dir, length);
}

/* ---- all ---- */

static int32_t add_runs(struct merge *merge, struct error *err)
{
    const struct text_list *const dirs = &merge->options->args;

    FAIL_IF(
        dirs->count == 0, err, NVBW_E_INVALID, "merge needs run directories");
    for (uint32_t i = 0; i < dirs->count; i++) {
        const char *const dir =
            without_slash(dirs->texts[i], merge->fleet.arena);

        FAIL_IF(dir == NULL, err, NVBW_E_SYSTEM, "out of memory");
        TRY(add_run(merge, dir, err));
        arena_clear(&merge->scratch);
    }
    return NVBW_OK;
}

static int32_t write_format(const struct merge *merge,
    const struct fleet_format *format, const char *file, struct error *err)
{
    struct strbuf text;

    strbuf_init(&text, TEXT_LIMIT_BYTES);

    int32_t status = format->write(&merge->fleet, &text, err);

    if (status >= 0 && text.failed) {
        status = error_set(err, NVBW_E_SYSTEM,
            "the fleet's %s report is too large", format->name);
    }
    if (status >= 0 && format->write != fleet_json) {
        text_clean(text.text, 1);
        text.length = strlen(text.text);
    }
    if (status >= 0) {
        status = report_put(file, &text, err);
    }
    strbuf_free(&text);
    return status;
}

/* "html=fleet.html" into its halves. */
static int32_t split(const char *text, const struct fleet_format **out_format,
    const char **out_file, struct error *err)
{
    const size_t length = strcspn(text, "=");
    char name[32];

    snprintf(name, sizeof name, "%.*s", (int)length, text);
    *out_format = fleet_format_find(name);
    FAIL_IF(text[length] == '\0' || text[length + 1] == '\0', err,
        NVBW_E_INVALID, "--report \"%s\": it is FORMAT=FILE, with - for stdout",
        text);
    FAIL_IF(*out_format == NULL, err, NVBW_E_INVALID,
        "--report \"%s\": merge has the formats text, verdict, json and html",
        text);
    *out_file = text + length + 1;
    return NVBW_OK;
}

/* Looked at before ten thousand runs are read. */
static int32_t check_reports(const struct options *options, struct error *err)
{
    const struct fleet_format *format = NULL;
    const char *file = NULL;
    uint32_t on_stdout = 0;

    for (uint32_t i = 0; i < options->reports.count; i++) {
        TRY(split(options->reports.texts[i], &format, &file, err));
        on_stdout += strcmp(file, "-") == 0;
    }
    FAIL_IF(
        on_stdout > 1, err, NVBW_E_INVALID, "only one report can go to stdout");
    return NVBW_OK;
}

/* Those that were asked for; then what a person reads, unless a report went to
 * stdout. */
static int32_t report_fleet(const struct merge *merge, struct error *err)
{
    const struct options *const options = merge->options;
    const char *const name = options->json    ? "json"
                             : options->quiet ? "verdict"
                                              : "text";
    int is_taken = 0;

    for (uint32_t i = 0; i < options->reports.count; i++) {
        const struct fleet_format *format = NULL;
        const char *file = NULL;

        TRY(split(options->reports.texts[i], &format, &file, err));
        TRY(write_format(merge, format, file, err));
        is_taken |= strcmp(file, "-") == 0;
    }
    return is_taken && options->output == NULL
               ? NVBW_OK
               : write_format(merge, fleet_format_find(name),
                     options->output == NULL ? "-" : options->output, err);
}

static int32_t merge_all(struct merge *merge, struct error *err)
{
    struct text_list expected = { NULL, 0 };

    TRY(check_reports(merge->options, err));
    for (uint32_t i = 0; i < merge->options->expected.count; i++) {
        struct error why = { 0 };

        FAIL_IF(host_names_parse(merge->options->expected.texts[i],
                    merge->fleet.arena, &expected, &why) < 0,
            err, NVBW_E_INVALID, "--expect-nodes: %.900s", why.text);
    }
    TRY(add_runs(merge, err));
    TRY(fleet_finish(&merge->fleet, expected.texts, expected.count, err));
    return report_fleet(merge, err);
}

static int run(const struct options *options, struct arena *arena)
{
    struct merge merge = { .options = options };
    struct arena kept;
    struct error err = { 0 };

    (void)arena;
    arena_init(&kept, FLEET_LIMIT_BYTES);
    arena_init(&merge.scratch, NODE_LIMIT_BYTES);
    fleet_begin(&merge.fleet, &kept);

    const int32_t status = merge_all(&merge, &err);
    const int code =
        status < 0 ? command_fail(&err, EXIT_USAGE) : merge.fleet.exit_code;

    arena_clear(&merge.scratch);
    arena_clear(&kept);
    return code;
}

const struct command command_merge = {
    .name = "merge",
    .usage = "RUN_DIR... [--expect-nodes HOSTS] [--report FORMAT=FILE]",
    .summary = "one report of many nodes, outliers and missing ones",
    .most_words = UINT32_MAX,
    .run = run,
};
