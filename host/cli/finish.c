/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "finish.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd.h"
#include "doubts.h"
#include "nearest.h"
#include "say.h"

/* "json=out.json" into its two halves. */
static int32_t split(const char *text, const struct report_format **out_format,
    const char **out_file, struct error *err)
{
    char name[32];
    const size_t length = strcspn(text, "=");

    FAIL_IF(text[length] == '\0' || text[length + 1] == '\0', err,
        NVBW_E_INVALID, "--report \"%s\": it is FORMAT=FILE, with - for stdout",
        text);
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    *out_format = report_find(name);
    *out_file = text + length + 1;
    if (*out_format != NULL) {
        return NVBW_OK;
    }

    struct nearest nearest;
    char hint[NEAREST_HINT_BYTES];

    nearest_begin(&nearest, name);
    for (const struct report_format *format = report_formats;
         format->name != NULL; format++) {
        nearest_offer(&nearest, format->name);
    }
    return error_set(err, NVBW_E_INVALID,
        "--report \"%s\": unknown format \"%s\"%s; nvbw-host help reports "
        "lists them",
        text, name, nearest_hint(&nearest, hint));
}

static int is_stdout(const char *file)
{
    return strcmp(file, "-") == 0;
}

/* A run of an hour must not end at a name that was wrong when it began. */
static int32_t check_file(const char *file, const char *run_dir,
    uint32_t *on_stdout, struct error *err)
{
    if (is_stdout(file)) {
        ++*on_stdout;
        return NVBW_OK;
    }
    return file_check_atomic(file, run_dir, err);
}

int32_t finish_check_reports(const struct options *options,
    const struct plan *plan, const char *run_dir, struct error *err)
{
    const struct report_format *format = NULL;
    const char *file = "";
    uint32_t on_stdout = 0;

    for (uint32_t i = 0; i < options->reports.count; i++) {
        TRY(split(options->reports.texts[i], &format, &file, err));
        TRY(check_file(file, run_dir, &on_stdout, err));
    }
    for (uint32_t i = 0; i < plan->reports_count; i++) {
        TRY(check_file(plan->reports[i].file, run_dir, &on_stdout, err));
    }
    FAIL_IF(
        on_stdout > 1, err, NVBW_E_INVALID, "only one report can go to stdout");
    return NVBW_OK;
}

static uint32_t terminal_columns(void)
{
    struct winsize size = { 0 };

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) {
        return 0;
    }
    return size.ws_col;
}

/* On a terminal that has colours, unless NO_COLOR is set. */
static int has_colours(void)
{
    const char *const no_colour = secure_getenv("NO_COLOR");
    const char *const terminal = secure_getenv("TERM");

    return isatty(STDOUT_FILENO) &&
           (no_colour == NULL || no_colour[0] == '\0') && terminal != NULL &&
           strcmp(terminal, "dumb") != 0;
}

/* The text report that a person sees: whole, or its verdict line with -q. */
static int32_t print_text(const struct options *options,
    const struct report_input *input, struct error *err)
{
    struct report_input shown = *input;

    shown.colour = (uint32_t)has_colours();
    return report_write(
        report_find(options->quiet ? "verdict" : "text"), &shown, "-", err);
}

/* One report that cannot be written takes no other with it: it is told at
 * once, and *out_failed counts it. Returns whether it went to stdout. */
static int write_one(const char *name, const char *file,
    const struct report_input *input, uint32_t *out_failed)
{
    const struct report_format *const format = report_find(name);
    struct error err = { 0 };
    int32_t status = NVBW_OK;

    if (format == NULL) {
        status = error_set(
            &err, NVBW_E_INVALID, "unknown report format \"%s\"", name);
    } else {
        status = report_write(format, input, file, &err);
    }
    if (status < 0) {
        command_fail(&err, 0);
        ++*out_failed;
    }
    return is_stdout(file);
}

int32_t finish_reports(const struct options *options,
    const struct evidence *evidence, const struct verdicts *verdicts,
    const char *run_dir, struct error *err)
{
    const struct report_input input = {
        .evidence = evidence,
        .verdicts = verdicts,
        .run_dir = run_dir,
        .columns = terminal_columns(),
    };
    int document_on_stdout = 0;
    uint32_t failed = 0;

    for (uint32_t i = 0; i < options->reports.count; i++) {
        const struct report_format *format = NULL;
        const char *file = NULL;

        TRY(split(options->reports.texts[i], &format, &file, err));
        document_on_stdout |= write_one(format->name, file, &input, &failed);
    }
    for (uint32_t i = 0; i < evidence->plan.reports_count; i++) {
        const struct plan_report *const report = &evidence->plan.reports[i];

        document_on_stdout |=
            write_one(report->format, report->file, &input, &failed);
    }
    if (!document_on_stdout) {
        TRY(print_text(options, &input, err));
    }
    FAIL_IF(failed > 0, err, NVBW_E_SYSTEM,
        "%u report%s not written; `nvbw-host report %s --report FORMAT=FILE` "
        "writes any of this run's",
        (unsigned)failed, failed == 1 ? " was" : "s were", run_dir);
    return NVBW_OK;
}

/* The run in short, for `merge`. */
static int32_t write_summary(const struct evidence *evidence,
    const struct verdicts *verdicts, const struct run_dir *dir,
    struct arena *arena, struct error *err)
{
    const struct report_input input = {
        .evidence = evidence, .verdicts = verdicts, .run_dir = dir->path
    };
    const char *const file =
        arena_format(arena, "%s/summary.ndjson", dir->path);

    FAIL_IF(file == NULL, err, NVBW_E_SYSTEM, "out of memory");
    return report_write(report_find("summary"), &input, file, err);
}

int32_t finish_doubts(const struct options *options,
    const struct evidence *evidence, const struct verdicts *verdicts,
    struct arena *arena, struct error *err)
{
    struct problems problems = { .arena = arena };

    TRY(doubt_limits(evidence, verdicts, &problems, err));
    for (uint32_t i = 0; !options->quiet && i < problems.count; i++) {
        say_problem("plan", &problems.list[i]);
    }
    return NVBW_OK;
}

int finish_run(const struct options *options, const struct evidence *evidence,
    const struct run_dir *dir, struct arena *arena)
{
    struct verdicts verdicts = { 0 };
    struct error err = { 0 };
    int32_t status = judge_run(evidence, arena, &verdicts, &err);

    if (status < 0) {
        return command_fail(&err, EXIT_INCOMPLETE);
    }
    status = write_summary(evidence, &verdicts, dir, arena, &err);
    if (status >= 0) {
        status = run_dir_seal(dir, &err);
    }
    if (status < 0) {
        command_fail(&err, 0);
    }
    if (finish_reports(options, evidence, &verdicts, dir->path, &err) < 0) {
        command_fail(&err, 0);
        status = -1;
    }

    if (finish_doubts(options, evidence, &verdicts, arena, &err) < 0) {
        command_fail(&err, 0);
    }

    const int found = options->exit_zero && !evidence->end.interrupted
                          ? EXIT_PASSED
                          : verdicts.exit_code;

    return status < 0 ? outcome_worse(found, EXIT_INCOMPLETE) : found;
}

void finish_broken(const struct options *options, struct evidence *evidence,
    const struct run_dir *dir, struct arena *arena)
{
    struct verdicts verdicts = { 0 };
    struct error err = { 0 };

    if (!evidence->begun) {
        return;
    }
    evidence->end.interrupted = 1;
    if (judge_run(evidence, arena, &verdicts, &err) < 0 ||
        finish_reports(options, evidence, &verdicts, dir->path, &err) < 0) {
        command_fail(&err, 0);
    }
    error_set(&err, NVBW_E_SYSTEM,
        "the run ended early; mend that and `nvbw-host resume %s` goes on "
        "with it",
        dir->path);
    command_fail(&err, 0);
}
