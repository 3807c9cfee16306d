/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "report.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "report_formats.h"
#include "report_lines.h"
#include "run_dir.h"
#include "text_clean.h"

/* Of the largest journal JSON makes two and a half times as much. */
static const size_t REPORT_LIMIT = (size_t)4 * JOURNAL_LIMIT_BYTES;

const struct report_format report_formats[] = {
    { "text", "for people: matrices, limits, findings and a summary", 1,
        report_text },
    { "verdict", "one line: the outcome and the exit code", 1, report_verdict },
    { "json", "all of it, with samples and flows; see report.schema.json", 0,
        report_json },
    { "html", "one page for a browser: findings, heat maps, bars, curves", 0,
        report_html },
    { "csv", "a row per cell, for spreadsheets and scripts", 0, report_csv },
    { "junit", "JUnit XML, for CI systems", 0, report_junit },
    { "prometheus", "for the textfile collector of node_exporter", 0,
        report_prometheus },
    { "summary", "the run in the journal's form, with one verdict per cell", 0,
        report_summary },
    { "nvbandwidth", "nvbandwidth's text, for programs that read it", 1,
        report_nvbandwidth },
    { "nvbandwidth-json", "nvbandwidth's JSON, for programs that read it", 0,
        report_nvbandwidth_json },
    { NULL, NULL, 0, NULL },
};

const struct report_format *report_find(const char *name)
{
    for (const struct report_format *format = report_formats;
         format->name != NULL; format++) {
        if (strcmp(format->name, name) == 0) {
            return format;
        }
    }
    return NULL;
}

static int32_t write_stdout(const struct strbuf *text, struct error *err)
{
    size_t done = 0;

    while (done < text->length) {
        const ssize_t put =
            write(STDOUT_FILENO, text->text + done, text->length - done);

        if (put < 0 && errno != EINTR) {
            return error_system(err, "writing a report to stdout");
        }
        done += put < 0 ? 0 : (size_t)put;
    }
    return NVBW_OK;
}

int32_t report_put(
    const char *file, const struct strbuf *text, struct error *err)
{
    return strcmp(file, "-") == 0
               ? write_stdout(text, err)
               : file_write_atomic(file, text->text, text->length, err);
}

int32_t report_write(const struct report_format *format,
    const struct report_input *input, const char *file, struct error *err)
{
    struct strbuf text;

    strbuf_init(&text, REPORT_LIMIT);

    int32_t status = format->write(input, &text, err);

    if (status >= 0 && format->for_people) {
        text_clean_but(text.text, input->colour ? lines_paints : NULL);
        text.length = strlen(text.text);
    }
    if (status >= 0 && text.failed) {
        status = error_set(err, NVBW_E_SYSTEM,
            "the %s report is larger than %zu bytes", format->name,
            REPORT_LIMIT);
    }
    if (status >= 0) {
        status = report_put(file, &text, err);
    }
    strbuf_free(&text);
    return status;
}
