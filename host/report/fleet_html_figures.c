/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The figures of a fleet: a row per metric, with a strip that shows how far the
 * nodes lie from the medians of their cells. */
#include <math.h>

#include "fleet_report.h"
#include "html_page.h"
#include "quantity.h"

/* The strip reaches from REACH below the median to REACH above; what lies
 * beyond is in the outermost bins. */
enum { BINS = 41, BIN_WIDTH = 5, STRIP_HEIGHT = 22, METRICS_LIMIT = 1000 };
#define REACH 0.05

static void count_cell(const struct fleet_cell *cell, uint32_t bins[BINS])
{
    for (uint32_t i = 0; i < cell->figures_count; i++) {
        const double figure = cell->figures[i].figure;
        const double ratio = cell->better == NVBW_LOWER ? cell->median / figure
                                                        : figure / cell->median;
        const double bin =
            ((ratio - 1.0) / REACH + 1.0) * 0.5 * (BINS - 1) + 0.5;

        if (isfinite(bin)) {
            bins[(uint32_t)fmin(fmax(bin, 0.0), BINS - 1)]++;
        }
    }
}

/* Heights are square roots, so that one node of a thousand is still seen. */
static void add_strip(const struct html *page, const struct fleet *fleet,
    const struct fleet_figures *of)
{
    uint32_t bins[BINS] = { 0 };
    uint32_t most = 1;

    for (uint32_t i = (uint32_t)(of->cell - fleet->cells); i < of->end; i++) {
        count_cell(&fleet->cells[i], bins);
    }
    for (uint32_t i = 0; i < BINS; i++) {
        most = bins[i] > most ? bins[i] : most;
    }
    html_format(page,
        "<td><svg class=\"strip\" viewBox=\"0 0 %d %d\" "
        "aria-hidden=\"true\"><path class=\"grid\" d=\"M%d 0V%d\"/>",
        BINS * BIN_WIDTH, STRIP_HEIGHT, BINS * BIN_WIDTH / 2, STRIP_HEIGHT);
    for (uint32_t i = 0; i < BINS; i++) {
        const double height = sqrt((double)bins[i] / most) * (STRIP_HEIGHT - 1);

        if (bins[i] > 0) {
            html_format(page,
                "<rect%s x=\"%u\" y=\"%.1f\" width=\"%d\" "
                "height=\"%.1f\"/>",
                i == 0 ? " class=\"b-fail\"" : "", i * BIN_WIDTH,
                STRIP_HEIGHT - fmax(height, 1.5), BIN_WIDTH - 1,
                fmax(height, 1.5));
        }
    }
    html_add(page, "</svg>");
}

static void add_figure(const struct html *page, uint32_t measure, double value)
{
    char text[32];

    quantity_format(value, measure, text, sizeof text);
    html_add(page, "<td class=\"n\">");
    html_text(page, text);
}

static void add_row(const struct html *page, const struct fleet *fleet,
    const struct fleet_figures *of)
{
    const struct fleet_cell *const cell = of->cell;

    html_add(page, "<tr><th scope=\"row\">");
    html_text(page, cell->testcase);
    if (cell->sweep != NULL) {
        html_add(page, " <span class=\"sweep\">");
        html_text(page, cell->sweep);
        html_add(page, "</span>");
    }
    html_element(page, "td", cell->metric);
    if (of->worst == NULL) {
        html_add(page, "<td class=\"n\">0<td><td><td><td><td></tr>\n");
        return;
    }
    html_format(page, "<td class=\"n\">%u", of->count);
    add_figure(page, cell->measure, of->low);
    add_figure(page, cell->measure, of->high);
    add_strip(page, fleet, of);
    add_figure(page, cell->measure, of->worst_figure);
    html_add(page, "<td class=\"of\">");
    html_text(page, fleet->nodes[of->worst->worst].host);
    html_add(page, of->worst->place[0] == '\0' ? "" : ", ");
    html_text(page, of->worst->place);
    html_add(page, "</tr>\n");
}

static void begin_kind(const struct html *page, const struct fleet_cell *cell)
{
    html_format(page, "<h3>Nodes of %u x ", cell->gpus);
    html_text(page, cell->gpu_model == NULL ? "no GPU" : cell->gpu_model);
    html_add(page,
        "</h3>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" "
        "aria-label=\"Figures\"><table class=\"figures\"><thead><tr>"
        "<th>testcase<th>metric<th class=\"n\">figures<th class=\"n\">lowest "
        "median<th class=\"n\">highest median"
        "<th>worse \xe2\x86\x90 nodes \xe2\x86\x92 better<th "
        "class=\"n\">worst<th>of"
        "</tr></thead><tbody>\n");
}

void fleet_html_figures(const struct html *page, const struct fleet *fleet)
{
    struct fleet_figures at = { 0 };
    uint32_t count = 0;

    html_add(page, "<section id=\"figures\"><h2>Figures over all nodes</h2>\n");
    html_format(page,
        "<p class=\"key\">A cell has a median over all nodes. The strip counts "
        "how far figures are from it, from %.0f %% worse at its left to %.0f "
        "%% better; its first bar, in another colour, has all that are worse "
        "still.</p>\n",
        REACH * 100.0, REACH * 100.0);
    while (fleet_figures_next(fleet, &at)) {
        if (++count > METRICS_LIMIT) {
            continue;
        }
        if (at.is_first_of_kind) {
            html_add(page, count > 1 ? "</tbody></table></div>\n" : "");
            begin_kind(page, at.cell);
        }
        add_row(page, fleet, &at);
    }
    html_add(page, count > 0 ? "</tbody></table></div>\n" : "<p>None.</p>\n");
    if (count > METRICS_LIMIT) {
        html_format(page, "<p>... and %u more; the json report has all.</p>\n",
            count - METRICS_LIMIT);
    }
    html_add(page, "</section>\n");
}
