/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The points of a sweep as curves: a line per cell where there are few, else
 * minimum, median and maximum over the cells. */
#include "html_page.h"

#include <math.h>
#include <string.h>

#include "quantity.h"

enum {
    LEFT = 62,
    TOP = 10,
    WIDTH = 560,
    HEIGHT = 210,
    LINES_LIMIT = 8,
    TICKS = 4,
    LABELS_LIMIT = 10
};

/* One line: a figure per point, NaN where there is none. */
struct curve {
    double *values;
    char label[2 * LABEL_BYTES + 4];
};

struct chart {
    const struct html *page;
    const struct html_sweep *sweep;
    const struct unit_shape *shape; /* of the first point */
    struct curve curves[LINES_LIMIT];
    uint32_t curves_count;
    double *places; /* of the points, 0 to 1 */
    double end;     /* of the figures' axis */
};

/* The metric of that name at a point; its count is 0 where there is none. */
static struct report_shape shape_at(
    const struct html_sweep *sweep, uint32_t point, const char *metric)
{
    struct html_shapes shapes = { .unit = &sweep->units[point],
        .list = sweep->lists[point],
        .count = sweep->counts[point] };

    while (html_shape_next(&shapes)) {
        if (strcmp(shapes.of.shape->metric, metric) == 0) {
            return shapes.of;
        }
    }
    return (struct report_shape){ .count = 0 };
}

/* ---- the points ---- */

/* "64 MiB" of "buffer_size=64 MiB" */
static const char *value_of(const struct unit *unit)
{
    const char *const value = strchr(unit->sweep, '=');

    return value == NULL || strchr(value + 1, '=') != NULL ? unit->sweep
                                                           : value + 1;
}

/* Sizes stand at their logarithm, all else side by side. */
static void place_points(struct chart *chart)
{
    const uint32_t points = chart->sweep->points;
    int are_sizes = 1;

    for (uint32_t i = 0; i < points; i++) {
        uint64_t bytes = 0;

        are_sizes &= quantity_size(value_of(&chart->sweep->units[i]), &bytes,
                         NULL) >= 0 &&
                     bytes > 0;
        chart->places[i] = are_sizes ? log2((double)bytes) : 0.0;
    }

    const double first = chart->places[0];
    const double span = chart->places[points - 1] - first;

    for (uint32_t i = 0; i < points; i++) {
        chart->places[i] = are_sizes && span > 0.0
                               ? (chart->places[i] - first) / span
                               : (double)i / (points - 1);
    }
}

/* ---- the curves ---- */

static void add_value(
    struct chart *chart, uint32_t curve, uint32_t point, double value)
{
    chart->curves[curve].values[point] = value;
    if (!isnan(value)) {
        chart->end = fmax(chart->end, value);
    }
}

static void fill_cells(
    struct chart *chart, uint32_t point, const struct report_shape *of)
{
    for (uint32_t i = 0; i < chart->curves_count; i++) {
        add_value(chart, i, point, i < of->count ? of->list[i].figure : NAN);
    }
}

static void fill_summary(
    struct chart *chart, uint32_t point, const struct report_shape *of)
{
    struct html_summary summary = { NAN, NAN, NAN, 0, NULL };

    if (of->count > 0) {
        html_summarise(of, &summary);
    }
    add_value(chart, 0, point, summary.least);
    add_value(chart, 1, point, summary.median);
    add_value(chart, 2, point, summary.most);
}

static int fill(struct chart *chart, struct arena *arena)
{
    static const char *const words[] = { "minimum", "median", "maximum" };
    const struct report_shape first =
        shape_at(chart->sweep, 0, chart->shape->metric);
    const int is_summary = first.count > LINES_LIMIT;

    chart->curves_count = is_summary ? 3 : first.count;
    chart->places =
        arena_alloc(arena, chart->sweep->points, sizeof *chart->places);
    for (uint32_t i = 0; i < chart->curves_count; i++) {
        struct curve *const curve = &chart->curves[i];

        curve->values =
            arena_alloc(arena, chart->sweep->points, sizeof *curve->values);
        if (curve->values == NULL) {
            return 0;
        }
        if (is_summary) {
            memcpy(curve->label, words[i], strlen(words[i]) + 1);
        } else {
            report_cell_label(chart->page->facts, first.unit,
                first.list[i].cell, curve->label);
        }
    }
    for (uint32_t i = 0; i < chart->sweep->points; i++) {
        const struct report_shape of =
            shape_at(chart->sweep, i, chart->shape->metric);

        (is_summary ? fill_summary : fill_cells)(chart, i, &of);
    }
    return chart->places != NULL && chart->curves_count > 0 && chart->end > 0.0;
}

/* ---- the drawing ---- */

static double x_of(const struct chart *chart, uint32_t point)
{
    return LEFT + chart->places[point] * WIDTH;
}

static double y_of(const struct chart *chart, double value)
{
    return TOP + HEIGHT - value / chart->end * HEIGHT;
}

static void add_axes(const struct chart *chart)
{
    const struct report_scale *const scale =
        report_scale_of(chart->shape->unit);
    const uint32_t step = (chart->sweep->points - 1) / LABELS_LIMIT + 1;

    for (int i = 0; i <= TICKS; i++) {
        const double value = chart->end * i / TICKS;

        html_format(chart->page,
            "<path class=\"grid\" d=\"M%d %.1fh%d\"/>"
            "<text class=\"end\" x=\"%d\" y=\"%.1f\">%.*f</text>\n",
            LEFT, y_of(chart, value), WIDTH, LEFT - 6, y_of(chart, value) + 3,
            scale->decimals > 0 && chart->end / scale->divisor < 10.0 ? 2 : 0,
            value / scale->divisor);
    }
    for (uint32_t i = 0; i < chart->sweep->points; i += step) {
        html_format(chart->page, "<text class=\"mid\" x=\"%.1f\" y=\"%d\">",
            x_of(chart, i), TOP + HEIGHT + 14);
        html_text(chart->page, value_of(&chart->sweep->units[i]));
        html_add(chart->page, "</text>\n");
    }
}

static void add_curve(const struct chart *chart, uint32_t number)
{
    const double *const values = chart->curves[number].values;
    int is_drawn = 0;

    html_format(chart->page, "<path class=\"line l%u\" d=\"", number);
    for (uint32_t i = 0; i < chart->sweep->points; i++) {
        if (isnan(values[i])) {
            is_drawn = 0;
            continue;
        }
        html_format(chart->page, "%c%.1f %.1f", is_drawn ? 'L' : 'M',
            x_of(chart, i), y_of(chart, values[i]));
        is_drawn = 1;
    }
    html_add(chart->page, "\"/>\n");
    for (uint32_t i = 0; i < chart->sweep->points; i++) {
        if (!isnan(values[i])) {
            html_format(chart->page,
                "<circle class=\"p%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>",
                number, x_of(chart, i), y_of(chart, values[i]));
            html_text(chart->page, value_of(&chart->sweep->units[i]));
            html_add(chart->page, ": ");
            html_figure(chart->page, chart->shape->unit, values[i]);
            html_add(chart->page, "</title></circle>");
        }
    }
    html_add(chart->page, "\n");
}

static void add_legend(const struct chart *chart)
{
    html_add(chart->page, "<ul class=\"legend\">");
    for (uint32_t i = 0; i < chart->curves_count; i++) {
        html_format(chart->page,
            "<li><svg viewBox=\"0 0 24 8\" aria-hidden=\"true\">"
            "<path class=\"line l%u\" d=\"M0 4h24\"/></svg> ",
            i);
        html_text(chart->page, chart->curves[i].label[0] == '\0'
                                   ? chart->shape->metric
                                   : chart->curves[i].label);
        html_add(chart->page, "</li>");
    }
    html_add(chart->page, "</ul>\n");
}

static void draw(const struct chart *chart)
{
    html_add(chart->page, "<h4>");
    html_text(chart->page, chart->shape->metric);
    html_format(chart->page,
        " (%s)</h4>\n<div class=\"wide\"><svg class=\"chart\" viewBox=\"0 0 %d "
        "%d\" role=\"img\" "
        "aria-label=\"Curves over the points of the sweep; the tables below "
        "hold the figures\">\n",
        report_scale_of(chart->shape->unit)->word, LEFT + WIDTH + 40,
        TOP + HEIGHT + 22);
    add_axes(chart);
    for (uint32_t i = 0; i < chart->curves_count; i++) {
        add_curve(chart, i);
    }
    html_add(chart->page, "</svg></div>\n");
    add_legend(chart);
}

void html_curves_add(const struct html *page, const struct html_sweep *sweep)
{
    for (uint32_t i = 0; i < sweep->units[0].shapes_count; i++) {
        struct arena arena;
        struct chart chart = {
            .page = page, .sweep = sweep, .shape = &sweep->units[0].shapes[i]
        };

        arena_init(&arena, SIZE_MAX);
        if (fill(&chart, &arena)) {
            place_points(&chart);
            draw(&chart);
        }
        arena_clear(&arena);
    }
}
