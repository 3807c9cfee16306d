/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The HTML report of a run. */
#include "report_formats.h"

#include "html_page.h"

enum { TITLE_LIMIT = 1 << 16 };

static void add_top(const struct html *page, const char *title)
{
    html_open(page, report_exit_words(page->input->verdicts)->word, title);
    html_add(page, "<header><h1>");
    html_text(page, title);
    html_add(page, "</h1>\n<p>");
    html_text(page, page->input->evidence->header.started);
    html_format(page, ", %u GPU%s, nvbw-host ", page->facts->gpus_count,
        page->facts->gpus_count == 1 ? "" : "s");
    html_text(page, page->input->evidence->header.build);
    html_add(page,
        "</p>\n<nav aria-label=\"Parts\"><a href=\"#findings\">Findings</a> "
        "<a href=\"#overview\">Overview</a> <a href=\"#results\">Results</a> "
        "<a href=\"#environment\">Environment</a></nav></header>\n<main>\n");
}

int32_t report_html(
    const struct report_input *input, struct strbuf *out, struct error *err)
{
    const struct html page = {
        .input = input, .facts = &input->evidence->facts, .out = out
    };

    const struct evidence *const evidence = input->evidence;
    struct strbuf title;

    (void)err;
    strbuf_init(&title, TITLE_LIMIT);
    strbuf_format(&title, "%s on %s",
        evidence->plan.name == NULL ? "unnamed" : evidence->plan.name,
        page.facts->host == NULL ? "unknown host" : page.facts->host);
    add_top(&page, title.text);
    strbuf_free(&title);
    html_findings_add(&page);
    html_overview_add(&page);
    html_units_add(&page);
    html_environment_add(&page);
    html_close(&page);
    return NVBW_OK;
}
