/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The overview of the HTML report: a row per metric, then what has no
 * figure. */
#include "html_page.h"

#include <math.h>
#include <string.h>

static void add_title(const struct html *page, const struct unit *unit)
{
    html_text(page, unit->testcase);
    html_suite(page, unit);
    if (unit->sweep != NULL) {
        html_add(page, " <span class=\"sweep\">");
        html_text(page, unit->sweep);
        html_add(page, "</span>");
    }
    if (unit->round > 0) {
        html_format(page, ", round %u", unit->round + 1);
    }
}

/* "5110 pass, 2 fail" */
static void add_states(const struct html *page, const struct report_shape *of)
{
    uint32_t counts[STATE_COUNT] = { 0 };
    int is_first = 1;

    for (uint32_t i = 0; i < of->count; i++) {
        counts[of->list[i].state]++;
    }
    for (uint32_t state = 0; state < STATE_COUNT; state++) {
        if (counts[state] > 0) {
            html_format(page, "%s<span class=\"s-%s\">%u %s</span>",
                is_first ? "" : ", ", name_of(state_names, state),
                counts[state], name_of(state_names, state));
            is_first = 0;
        }
    }
}

static void add_row(const struct html *page, const struct report_shape *of)
{
    const struct report_scale *const scale = report_scale_of(of->shape->unit);
    struct html_summary summary;

    html_summarise(of, &summary);
    if (summary.worst == NULL) {
        return;
    }
    html_format(page, "<tr><th scope=\"row\"><a href=\"#u%u\">", of->unit->id);
    add_title(page, of->unit);
    html_add(page, "</a>");
    html_element(page, "td", of->shape->metric);
    html_format(page,
        "<td class=\"n\">%.*f<td class=\"n\">%.*f<td class=\"n\">%.*f<td>%s",
        scale->decimals, summary.least / scale->divisor, scale->decimals,
        summary.median / scale->divisor, scale->decimals,
        summary.most / scale->divisor, scale->word);
    html_add(page, "<td>");
    html_text(page, summary.worst->limit_text);
    if (summary.worst->limit_text != NULL && isnan(summary.worst->limit)) {
        html_add(page, " <span class=\"sweep\">(unknown)</span>");
    }
    html_add(page, "<td class=\"n\">");
    if (!isnan(summary.worst->margin)) {
        html_format(page, "%+.1f %%", summary.worst->margin * 100.0);
    }
    html_add(page, "<td>");
    add_states(page, of);
    html_add(page, "</tr>\n");
}

/* The verdicts of the unit from `first` on. */
static uint32_t span(const struct verdicts *verdicts, uint32_t first)
{
    uint32_t count = 1;

    while (first + count < verdicts->count &&
           verdicts->list[first + count].unit == verdicts->list[first].unit) {
        count++;
    }
    return count;
}

static void add_measured(const struct html *page)
{
    const struct verdicts *const verdicts = page->input->verdicts;

    html_add(page,
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" "
        "aria-label=\"Overview\"><table class=\"overview\"><thead><tr>"
        "<th>testcase<th>metric<th>minimum<th>median<th>maximum<th>unit"
        "<th>limit<th>worst<th>cells</tr></thead><tbody>\n");
    for (uint32_t done = 0; done < verdicts->count;) {
        const uint32_t count = span(verdicts, done);
        struct html_shapes shapes = {
            .unit = &page->input->evidence->units[verdicts->list[done].unit],
            .list = verdicts->list + done,
            .count = count,
        };

        while (html_shape_next(&shapes)) {
            add_row(page, &shapes.of);
        }
        done += count;
    }
    html_add(page, "</tbody></table></div>\n");
}

static int is_same(const char *one, const char *other)
{
    return strcmp(one == NULL ? "" : one, other == NULL ? "" : other) == 0;
}

/* Verdicts without a figure that say the same, one after another, over units
 * of one plugin. */
static uint32_t alike(const struct html *page, uint32_t first)
{
    const struct verdicts *const verdicts = page->input->verdicts;
    const struct unit *const units = page->input->evidence->units;
    const struct verdict *const head = &verdicts->list[first];
    uint32_t count = 0;

    while (first + count < verdicts->count) {
        const struct verdict *const verdict = head + count;

        if (!isnan(verdict->figure) ||
            strcmp(units[verdict->unit].plugin, units[head->unit].plugin) !=
                0 ||
            verdict->state != head->state ||
            !is_same(verdict->reason, head->reason) ||
            !is_same(verdict->message, head->message)) {
            break;
        }
        count++;
    }
    return count;
}

static void add_missing(
    const struct html *page, const struct verdict *head, uint32_t count)
{
    const struct unit *const unit = &page->input->evidence->units[head->unit];
    char label[2 * LABEL_BYTES + 4];

    html_add(page, "<tr><th scope=\"row\">");
    html_text(page, unit->plugin);
    html_add(page, "/");
    add_title(page, unit);
    if (head[count - 1].unit > head->unit) {
        html_format(page, " and %u more", head[count - 1].unit - head->unit);
    }
    html_format(page, "<td><span class=\"s-%s\">%s</span> ",
        name_of(state_names, head->state), name_of(state_names, head->state));
    if (head->reason != NULL) {
        html_add(page, "(");
        html_text(page, head->reason);
        html_add(page, ")");
    }
    report_verdict_label(page->facts, unit, head, label);
    html_format(page, "<td class=\"n\">%u<td>", count);
    html_text(page, count == 1 ? label : "");
    html_add(page, "<td>");
    html_text(page, head->message);
    html_add(page, "</tr>\n");
}

enum { MISSING_LIMIT = 200 };

static void add_all_missing(const struct html *page)
{
    const struct verdicts *const verdicts = page->input->verdicts;
    uint32_t rows = 0;

    for (uint32_t done = 0; done < verdicts->count;) {
        const uint32_t count = alike(page, done);

        if (count > 0 && rows == 0) {
            html_add(page,
                "<h3>Without a figure</h3>\n<div class=\"wide\" "
                "tabindex=\"0\" role=\"region\" aria-label=\"Without a "
                "figure\"><table><thead><tr><th>testcase<th>state<th>cells"
                "<th>cell<th>why</tr></thead><tbody>\n");
        }
        if (count > 0 && rows++ < MISSING_LIMIT) {
            add_missing(page, &verdicts->list[done], count);
        }
        done += count > 0 ? count : 1;
    }
    if (rows > 0) {
        html_add(page, "</tbody></table></div>\n");
    }
    if (rows > MISSING_LIMIT) {
        html_format(page, "<p>... and %u more; the json report has all.</p>\n",
            rows - MISSING_LIMIT);
    }
}

void html_overview_add(const struct html *page)
{
    html_add(page, "<section id=\"overview\"><h2>Overview</h2>\n");
    add_measured(page);
    add_all_missing(page);
    html_add(page, "</section>\n");
}
