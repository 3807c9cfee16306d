/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The end of the text report: findings, counts, verdict, and where to look. */
#include "report_formats.h"

#include <stdio.h>
#include <string.h>

#include "report_failed.h"
#include "report_lines.h"
#include "report_trends.h"

/* What failed stands above as well, and its cause says more. */
enum { LINE_LIMIT = 1024, SENTENCE_LIMIT = 1 << 16, FAILED_LIMIT = 12 };

struct text_foot {
    const struct report_input *input;
    uint32_t columns;
    struct strbuf *out;
};

static void add_line(
    const struct text_foot *report, uint32_t indent, const char *text)
{
    lines_add(report->out, report->columns, indent, text);
}

#define add_line_format(report, indent, ...)                                   \
    lines_format((report)->out, (report)->columns, indent, __VA_ARGS__)

static const char *or_text(const char *text, const char *other)
{
    return text != NULL ? text : other;
}

void report_banner_add(
    const struct report_input *input, uint32_t columns, struct strbuf *out)
{
    const struct facts *const facts = &input->evidence->facts;

    if (facts->simulated) {
        lines_format(out, columns, 0, "*** SIMULATED DRIVER (profile %s) ***",
            or_text(facts->profile, "unknown"));
        lines_add(out, columns, 0, "No figure here was measured on hardware.");
    }
}

static void add_findings(const struct text_foot *report)
{
    const struct verdicts *const verdicts = report->input->verdicts;

    if (verdicts->findings_count > 0) {
        strbuf_add(report->out, "\nFindings\n");
    }
    for (uint32_t i = 0; i < verdicts->findings_count; i++) {
        const struct finding *const finding = &verdicts->findings[i];

        lines_paint(report->out, report->input, PAINT_STRONG);
        add_line_format(report, 2, "%s%s", finding->what,
            finding->accepted ? " (accepted)" : "");
        lines_paint(report->out, report->input, PAINT_END);
        add_line_format(report, 4, "-> %s", or_text(finding->action, ""));
        if (finding->next != NULL) {
            add_line_format(report, 4, "next: %s", finding->next);
        }
    }
    report_accepts_add(report->input, report->columns, report->out);
    for (uint32_t i = 0; i < verdicts->unmatched_limits_count; i++) {
        if (i == 0) {
            strbuf_add(report->out, "\nLimits that matched no cell\n");
        }
        add_line(report, 2, verdicts->unmatched_limits[i]);
    }
}

/* So that nobody has to look for the one cell in a report of ten pages. */
static void add_failed(const struct text_foot *report)
{
    struct report_failed at = { 0 };
    struct strbuf text;
    uint32_t count = 0;

    while (report_failed_next(report->input, &at)) {
        if (++count > FAILED_LIMIT) {
            continue;
        }
        strbuf_add(report->out, count == 1 ? "\nWhat did not pass\n" : "");
        strbuf_init(&text, SENTENCE_LIMIT);
        report_failed_units(report->input, &at, &text);
        strbuf_add(&text, " ");
        report_failed_sentence(report->input, &at, &text);
        add_line(report, 2, text.text);
        strbuf_free(&text);
    }
    if (count > FAILED_LIMIT) {
        add_line_format(report, 2, "... and %u more", count - FAILED_LIMIT);
    }
}

/* One sentence where telemetry was wanted and is not there. */
static void add_telemetry(const struct text_foot *report)
{
    const struct evidence *const evidence = report->input->evidence;

    for (uint32_t i = 0; i < evidence->events_count; i++) {
        if (strcmp(evidence->events[i].what, "telemetry") == 0) {
            strbuf_add(report->out, "\n");
            add_line_format(report, 0, "Telemetry: %s",
                or_text(evidence->events[i].text, "none"));
        }
    }
}

/* The first three always, the others where there are any. */
static void add_counts(const struct text_foot *report)
{
    static const uint32_t order[] = { STATE_PASS, STATE_FAIL, STATE_SKIP,
        STATE_WARN, STATE_UNCHECKED, STATE_MISMATCH, STATE_INVALID, STATE_ERROR,
        STATE_CRASH, STATE_TIMEOUT, STATE_CANCELLED, STATE_NOT_RUN,
        STATE_BLOCKED };
    const struct verdicts *const verdicts = report->input->verdicts;
    char text[1024];
    size_t used = (size_t)snprintf(text, sizeof text,
        "%u cell%s planned:", verdicts->count, verdicts->count == 1 ? "" : "s");

    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        const uint32_t count = verdicts->by_state[order[i]];

        if (i < 3 || count > 0) {
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "%s %u %s",
                    i == 0 ? "" : ",", count, name_of(state_names, order[i]));
        }
        if (order[i] == STATE_FAIL && verdicts->accepted_count > 0) {
            used += (size_t)snprintf(text + used, sizeof text - used,
                " (%u accepted)", verdicts->accepted_count);
        }
    }
    strbuf_add(report->out, "\n");
    add_line(report, 0, text);
}

static const char *paint_of_outcome(const struct text_foot *report)
{
    const int32_t code = report->input->verdicts->exit_code;

    return code == EXIT_PASSED       ? PAINT_GOOD
           : code == EXIT_INCOMPLETE ? PAINT_ODD
                                     : PAINT_BAD;
}

/* A path as a shell reads it back. */
static void add_quoted(struct strbuf *out, const char *path)
{
    if (path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                          "0123456789/._-+:@%")] == '\0') {
        strbuf_add(out, path);
        return;
    }
    strbuf_add(out, "'");
    for (; *path != '\0'; path++) {
        if (*path == '\'') {
            strbuf_add(out, "'\\''");
        } else {
            strbuf_add_n(out, path, 1);
        }
    }
    strbuf_add(out, "'");
}

/* Lines that are copied from the terminal are not broken. */
static void add_places(const struct text_foot *report)
{
    const char *const run_dir = report->input->run_dir;

    if (run_dir == NULL) {
        return;
    }
    strbuf_format(report->out, "Run directory: %s\n", run_dir);
    if (report->input->verdicts->exit_code == EXIT_PASSED) {
        return;
    }
    strbuf_format(report->out, "Worker logs: %s/workers\n", run_dir);
    strbuf_add(
        report->out, "To pack it for support: tar -czf nvbw-run.tar.gz ");
    add_quoted(report->out, run_dir);
    strbuf_add(report->out, "\n");
}

void report_foot_add(
    const struct report_input *input, uint32_t columns, struct strbuf *out)
{
    const struct text_foot text = { input, columns, out };
    const struct text_foot *const report = &text;
    struct strbuf line;

    report_trends_add(report->input, report->columns, report->out);
    add_failed(report);
    add_findings(report);
    add_telemetry(report);
    add_counts(report);
    if (report->input->evidence->ended &&
        report->input->evidence->end.interrupted) {
        add_line(report, 0, "The run was interrupted.");
    }
    report_banner_add(report->input, report->columns, report->out);
    strbuf_init(&line, LINE_LIMIT);
    report_verdict_add(report->input, &line);
    lines_paint(report->out, report->input, paint_of_outcome(report));
    add_line(report, 0, line.text == NULL ? "" : line.text);
    lines_paint(report->out, report->input, PAINT_END);
    strbuf_free(&line);
    add_places(report);
}
