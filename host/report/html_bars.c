/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A row, a column or a single figure as bars, each with a line at its limit and
 * one at what the path can carry. */
#include "html_page.h"

#include <math.h>

enum { BAR_WIDTH = 400 };

/* What the longest bar stands for. */
static double scale_end(const struct report_shape *of)
{
    double end = 0.0;

    for (uint32_t i = 0; i < of->count; i++) {
        end = fmax(end, of->list[i].figure);
        end = fmax(end, of->list[i].limit);
        end = fmax(end, of->list[i].theoretical);
    }
    return end > 0.0 && isfinite(end) ? end : 1.0;
}

static void add_line(
    const struct html *page, const char *name, double value, double end)
{
    if (!isnan(value)) {
        html_format(page, "<path class=\"%s\" d=\"M%.1f 0v14\"/>", name,
            value / end * BAR_WIDTH);
    }
}

static void add_bar(
    const struct html *page, const struct verdict *verdict, double end)
{
    html_format(page,
        "<td><svg class=\"bar\" viewBox=\"0 0 %d 14\" "
        "preserveAspectRatio=\"none\" aria-hidden=\"true\">",
        BAR_WIDTH + 1);
    if (!isnan(verdict->figure) && verdict->figure > 0.0) {
        html_format(page,
            "<rect class=\"b-%s\" y=\"2\" width=\"%.1f\" height=\"10\"/>",
            name_of(state_names, verdict->state),
            verdict->figure / end * BAR_WIDTH);
    }
    add_line(page, "theory", verdict->theoretical, end);
    add_line(page, "limit", verdict->limit, end);
    html_add(page, "</svg>");
}

static void add_row(const struct html *page, const struct report_shape *of,
    const struct verdict *verdict, double end)
{
    const struct report_scale *const scale = report_scale_of(of->shape->unit);
    char label[2 * LABEL_BYTES + 4];

    report_verdict_label(page->facts, of->unit, verdict, label);
    html_add(page, "<tr><th scope=\"row\">");
    html_text(page, label);
    add_bar(page, verdict, end);
    html_add(page, "<td class=\"n\">");
    if (isnan(verdict->figure)) {
        html_format(page, "<span class=\"s-%s\">%s</span>",
            name_of(state_names, verdict->state),
            name_of(state_names, verdict->state));
    } else {
        html_format(page, "%.*f%s", scale->decimals,
            verdict->figure / scale->divisor, html_mark(verdict->state));
    }
    html_add(page, "<td class=\"n\">");
    if (!isnan(verdict->limit)) {
        html_format(page, "%s %.*f", verdict->limit_is_max ? "&le;" : "&ge;",
            scale->decimals, verdict->limit / scale->divisor);
    }
    html_add(page, "<td class=\"n\">");
    if (!isnan(verdict->utilisation)) {
        html_format(page, "%.0f %%", verdict->utilisation * 100.0);
    }
    html_add(page, "</tr>\n");
}

void html_bars_add(const struct html *page, const struct report_shape *of)
{
    const double end = scale_end(of);

    html_add(page, "<table class=\"bars\"><thead><tr><td><td><th>figure"
                   "<th>limit<th>of link</tr></thead><tbody>\n");
    for (uint32_t i = 0; i < of->count; i++) {
        add_row(page, of, &of->list[i], end);
    }
    html_add(page, "</tbody></table>\n");
}
