/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A matrix as a heat map. Colours say how a cell compares with the median of
 * its matrix, in the direction that is better, so that a slow link stands out
 * also where all limits are met. */
#include "html_page.h"

#include <math.h>

enum { TABLE_COLS = 16, TABLE_ROWS = 64, PITCH = 10, BINS = 7 };

/* The class of a colour, c0 worst to c6 best; BINS: no figure. */
static int bin_of(const struct unit_shape *shape, const struct verdict *verdict,
    double median)
{
    static const double ends[BINS - 1] = { 0.60, 0.80, 0.90, 0.97, 1.03, 1.10 };
    const double goodness = html_goodness(shape, verdict->figure, median);
    int bin = 0;

    if (isnan(goodness)) {
        return isnan(verdict->figure) ? BINS : BINS / 2 + 1;
    }
    while (bin < BINS - 1 && goodness >= ends[bin]) {
        bin++;
    }
    return bin;
}

static void add_number(const struct html *page, const struct report_shape *of,
    const struct verdict *verdict)
{
    const struct report_scale *const scale = report_scale_of(of->shape->unit);

    if (isnan(verdict->figure)) {
        html_add(page, name_of(state_names, verdict->state));
    } else {
        html_format(page, "%.*f%s", scale->decimals,
            verdict->figure / scale->divisor, html_mark(verdict->state));
    }
}

static void add_cell(const struct html *page, const struct report_shape *of,
    const struct verdict *verdict, double median)
{
    if (verdict == NULL) {
        html_add(page, "<td class=\"none\">");
        return;
    }

    const int bin = bin_of(of->shape, verdict, median);

    if (bin == BINS) {
        html_format(page, "<td class=\"cx s-%s\">",
            name_of(state_names, verdict->state));
    } else {
        html_format(page, "<td class=\"c%d%s\">", bin,
            verdict->state == STATE_FAIL ? " bad" : "");
    }
    add_number(page, of, verdict);
}

static void add_label(const struct html *page, const struct report_shape *of,
    int is_col, uint32_t at)
{
    char label[LABEL_BYTES];

    report_label(page->facts, of->unit, of->shape, is_col, at, label);
    html_text(page, label);
}

static void add_table(
    const struct html *page, const struct report_shape *of, double median)
{
    html_add(page, "<div class=\"wide\" tabindex=\"0\" role=\"region\" "
                   "aria-label=\"Figures\"><table class=\"heat\"><thead><tr>"
                   "<td>");
    for (uint32_t col = 0; col < of->shape->cols; col++) {
        html_add(page, "<th scope=\"col\">");
        add_label(page, of, 1, col);
    }
    html_add(page, "</tr></thead><tbody>\n");
    for (uint32_t row = 0; row < of->shape->rows; row++) {
        html_add(page, "<tr><th scope=\"row\">");
        add_label(page, of, 0, row);
        for (uint32_t col = 0; col < of->shape->cols; col++) {
            add_cell(page, of, report_shape_at(of, row, col), median);
        }
        html_add(page, "</tr>\n");
    }
    html_add(page, "</tbody></table></div>\n");
}

/* ---- the map of a large matrix ---- */

/* The cells of one colour as one path. */
static void add_bin(const struct html *page, const struct report_shape *of,
    double median, int bin)
{
    html_format(page, "<path class=\"c%c\" d=\"",
        bin == BINS ? 'x' : (char)('0' + bin));
    for (uint32_t row = 0; row < of->shape->rows; row++) {
        for (uint32_t col = 0; col < of->shape->cols; col++) {
            const struct verdict *const verdict = report_shape_at(of, row, col);

            if (verdict != NULL && bin_of(of->shape, verdict, median) == bin) {
                html_format(page, "M%u %uh%dv%dh-%dz", col * PITCH, row * PITCH,
                    PITCH, PITCH, PITCH);
            }
        }
    }
    html_add(page, "\"/>\n");
}

static void add_outlines(const struct html *page, const struct report_shape *of)
{
    html_add(page, "<path class=\"bad\" d=\"");
    for (uint32_t row = 0; row < of->shape->rows; row++) {
        for (uint32_t col = 0; col < of->shape->cols; col++) {
            const struct verdict *const verdict = report_shape_at(of, row, col);

            if (verdict != NULL && verdict->state == STATE_FAIL) {
                html_format(
                    page, "M%u %uh8v8h-8z", col * PITCH + 1, row * PITCH + 1);
            }
        }
    }
    html_add(page, "\"/>\n");
}

/* A label at every step-th row or column. */
static void add_ticks(const struct html *page, const struct report_shape *of)
{
    const uint32_t step = 8;

    for (uint32_t col = 0; col < of->shape->cols; col += step) {
        html_format(page, "<text x=\"%u\" y=\"-4\">", col * PITCH);
        add_label(page, of, 1, col);
        html_add(page, "</text>");
    }
    for (uint32_t row = 0; row < of->shape->rows; row += step) {
        html_format(page, "<text class=\"end\" x=\"-4\" y=\"%u\">",
            row * PITCH + PITCH - 1);
        add_label(page, of, 0, row);
        html_add(page, "</text>");
    }
    html_add(page, "\n");
}

static void add_map(
    const struct html *page, const struct report_shape *of, double median)
{
    html_format(page,
        "<div class=\"wide\"><svg class=\"map\" viewBox=\"-70 -16 %u %u\" "
        "role=\"img\" "
        "aria-label=\"Heat map of %u rows and %u columns\">\n",
        of->shape->cols * PITCH + 72, of->shape->rows * PITCH + 18,
        of->shape->rows, of->shape->cols);
    for (int bin = 0; bin <= BINS; bin++) {
        add_bin(page, of, median, bin);
    }
    add_outlines(page, of);
    add_ticks(page, of);
    html_add(page, "</svg></div>\n<details><summary>Figures</summary>\n");
    add_table(page, of, median);
    html_add(page, "</details>\n");
}

void html_matrix_add(const struct html *page, const struct report_shape *of)
{
    struct html_summary summary;

    html_summarise(of, &summary);
    if (of->shape->cols <= TABLE_COLS && of->shape->rows <= TABLE_ROWS) {
        add_table(page, of, summary.median);
    } else {
        add_map(page, of, summary.median);
    }
}
