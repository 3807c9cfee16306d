/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The head of the HTML report: verdict, findings with what to do, accepted
 * defects. */
#include "html_page.h"

#include <math.h>
#include <string.h>

#include "report_failed.h"

enum { LINE_LIMIT = 1024, SENTENCE_LIMIT = 1 << 16, FAILED_LIMIT = 50 };

/* The verdict line, its first word by itself. */
static void add_verdict(const struct html *page)
{
    const struct exit_words *const words =
        report_exit_words(page->input->verdicts);
    const size_t word = strlen(words->word);
    struct strbuf line;

    strbuf_init(&line, LINE_LIMIT);
    report_verdict_add(page->input, &line);
    html_format(page, "<p class=\"verdict e%d\"><strong>",
        (int)page->input->verdicts->exit_code);
    html_text(page, words->word);
    html_add(page, "</strong>");
    if (line.length > word + 1) {
        html_text(page, line.text + word + 1);
    }
    html_add(page, "</p>\n");
    strbuf_free(&line);
}

static void add_banner(const struct html *page)
{
    const struct evidence *const evidence = page->input->evidence;

    if (page->facts->simulated) {
        html_add(page, "<p class=\"banner\">Simulated driver (profile ");
        html_text(page, page->facts->profile);
        html_add(page, "): no figure here was measured on hardware.</p>\n");
    }
    if (!evidence->ended) {
        html_add(page,
            "<p class=\"banner\">The run has not ended, or was lost: "
            "this is what its journal holds.</p>\n");
    } else if (evidence->end.interrupted) {
        html_add(page, "<p class=\"banner\">The run was interrupted.</p>\n");
    }
    if (evidence->header.untrusted) {
        html_add(page, "<p class=\"banner\">Plugins were loaded without the "
                       "trust check.</p>\n");
    }
    if (evidence->header.wrapped) {
        html_add(page, "<p class=\"banner\">Workers ran under another program: "
                       "figures may be low.</p>\n");
    }
}

static void add_counts(const struct html *page)
{
    const struct verdicts *const verdicts = page->input->verdicts;
    const char *comma = "";

    html_format(page, "<p class=\"counts\">%u cell%s planned:", verdicts->count,
        verdicts->count == 1 ? "" : "s");
    for (uint32_t state = STATE_SKIP; state < STATE_COUNT; state++) {
        if (verdicts->by_state[state] > 0) {
            html_format(page, "%s <span class=\"s-%s\">%u %s</span>", comma,
                name_of(state_names, state), verdicts->by_state[state],
                name_of(state_names, state));
            comma = ",";
        }
    }
    if (verdicts->accepted_count > 0) {
        html_format(
            page, ", <span>%u accepted</span>", verdicts->accepted_count);
    }
    html_add(page, "</p>\n");
}

static void add_finding(const struct html *page, const struct finding *finding)
{
    html_format(page, "<li%s><p class=\"what\">",
        finding->accepted ? " class=\"accepted\"" : "");
    html_text(page, finding->what);
    html_add(page, finding->accepted ? " (accepted)</p>" : "</p>");
    html_add(page, "<p class=\"action\">");
    html_text(page, finding->action);
    html_add(page, "</p>");
    if (finding->next != NULL) {
        html_add(page, "<p class=\"next\">Next: ");
        html_text(page, finding->next);
        html_add(page, "</p>");
    }
    html_add(page, "</li>\n");
}

static void add_failed(const struct html *page)
{
    const struct report_input *const input = page->input;
    struct report_failed at = { 0 };
    struct strbuf text;
    uint32_t count = 0;

    while (report_failed_next(input, &at)) {
        const struct verdict *const first = &input->verdicts->list[at.first];
        /* A unit without a figure has no section to go to. */
        const int has_section = !isnan(first->figure);

        if (++count > FAILED_LIMIT) {
            continue;
        }
        html_add(page, count == 1 ? "<h3>What did not pass</h3>\n"
                                    "<ul class=\"failed\">\n"
                                  : "");
        if (has_section) {
            html_format(page, "<li><a href=\"#u%u\">", first->unit);
        } else {
            html_add(page, "<li>");
        }
        strbuf_init(&text, SENTENCE_LIMIT);
        report_failed_units(input, &at, &text);
        html_text(page, text.text);
        strbuf_free(&text);
        html_add(page, has_section ? "</a> " : " ");
        strbuf_init(&text, SENTENCE_LIMIT);
        report_failed_sentence(input, &at, &text);
        html_text(page, text.text);
        html_add(page, "</li>\n");
        strbuf_free(&text);
    }
    html_add(page, count > 0 ? "</ul>\n" : "");
    if (count > FAILED_LIMIT) {
        html_format(page, "<p>... and %u more; the json report has all.</p>\n",
            count - FAILED_LIMIT);
    }
}

static void add_accepts(const struct html *page)
{
    const struct verdicts *const verdicts = page->input->verdicts;

    if (verdicts->acceptances_count == 0) {
        return;
    }
    html_add(page, "<h3>Accepted defects</h3>\n<table><thead><tr>"
                   "<th>device<th>pair<th>testcase<th>cause<th>known"
                   "<th>ticket<th>until<th>covers</tr></thead><tbody>\n");
    for (uint32_t i = 0; i < verdicts->acceptances_count; i++) {
        const struct acceptance *const acceptance = &verdicts->acceptances[i];
        const struct plan_accept *const entry = acceptance->entry;
        const char *const texts[] = { entry->device, entry->pair, entry->match,
            entry->cause, entry->why, entry->ticket, entry->until };

        html_add(page, "<tr>");
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
            html_element(page, "td", texts[k]);
        }
        html_format(page, "<td>%u cells, %u findings%s</tr>\n",
            acceptance->cells, acceptance->findings,
            acceptance->ended ? " if it had not ended" : "");
    }
    html_add(page, "</tbody></table>\n");
}

void html_findings_add(const struct html *page)
{
    const struct verdicts *const verdicts = page->input->verdicts;

    add_verdict(page);
    add_banner(page);
    add_counts(page);
    html_add(page, "<section id=\"findings\"><h2>Findings</h2>\n");
    if (verdicts->findings_count == 0) {
        html_add(
            page, verdicts->exit_code == EXIT_PASSED
                      ? "<p>None.</p>\n"
                      : "<p>No cause was found for what did not pass.</p>\n");
    } else {
        html_add(page, "<ol class=\"findings\">\n");
    }
    for (uint32_t i = 0; i < verdicts->findings_count; i++) {
        add_finding(page, &verdicts->findings[i]);
    }
    if (verdicts->findings_count > 0) {
        html_add(page, "</ol>\n");
    }
    add_failed(page);
    add_accepts(page);
    if (verdicts->unmatched_limits_count > 0) {
        html_add(page, "<h3>Limits that matched no cell</h3>\n<ul>\n");
    }
    for (uint32_t i = 0; i < verdicts->unmatched_limits_count; i++) {
        html_element(page, "li", verdicts->unmatched_limits[i]);
    }
    html_add(page, verdicts->unmatched_limits_count > 0 ? "</ul>\n</section>\n"
                                                        : "</section>\n");
}
