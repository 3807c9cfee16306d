/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The samples behind the figures of one metric, on demand: a strip per cell
 * around its median, all as wide. Of many cells those that look worst. */
#include "html_page.h"

#include <math.h>
#include <stdlib.h>

enum { STRIP_WIDTH = 400, SHOWN_LIMIT = 24 };

/* A cell and how soon it is shown: least first. */
struct ranked {
    const struct verdict *verdict;
    double rank;
};

static int compare(const void *one, const void *other)
{
    const struct ranked *const a = one;
    const struct ranked *const b = other;

    if (a->rank != b->rank) {
        return a->rank < b->rank ? -1 : 1;
    }
    return a->verdict < b->verdict ? -1 : a->verdict > b->verdict;
}

static int has_samples(const struct verdict *verdict)
{
    return verdict->record != NULL && verdict->record->samples_count > 0 &&
           !isnan(verdict->figure);
}

/* Failures first, then the least good. */
static double rank_of(const struct unit_shape *shape,
    const struct verdict *verdict, double median)
{
    const double goodness = html_goodness(shape, verdict->figure, median);
    const int is_bad =
        verdict->state != STATE_PASS && verdict->state != STATE_UNCHECKED;

    return (isnan(goodness) ? 1.0 : goodness) - (is_bad ? 1e6 : 0.0);
}

/* How far samples lie from their cell's median, as a part of it. */
static double spread_of(const struct ranked *list, uint32_t count)
{
    double spread = 0.001;

    for (uint32_t i = 0; i < count; i++) {
        const struct stats *const stats = &list[i].verdict->stats;

        if (stats->median > 0.0) {
            spread = fmax(spread, stats->max / stats->median - 1.0);
            spread = fmax(spread, 1.0 - stats->min / stats->median);
        }
    }
    return spread;
}

static double at(const struct stats *stats, double spread, double value)
{
    const double half = STRIP_WIDTH / 2.0;

    return stats->median > 0.0
               ? half + (value / stats->median - 1.0) / spread * (half - 2.0)
               : half;
}

static void add_strip(
    const struct html *page, const struct verdict *verdict, double spread)
{
    const struct record *const record = verdict->record;
    const struct stats *const stats = &verdict->stats;

    html_format(page,
        "<td><svg class=\"bar\" viewBox=\"0 0 %d 14\" "
        "preserveAspectRatio=\"none\" aria-hidden=\"true\">",
        STRIP_WIDTH);
    if (!isnan(stats->low)) {
        const double low = at(stats, spread, stats->low);

        html_format(page,
            "<rect class=\"interval\" x=\"%.1f\" y=\"1\" width=\"%.1f\" "
            "height=\"12\"/>",
            low, at(stats, spread, stats->high) - low);
    }
    html_add(page, "<path class=\"sample\" d=\"");
    for (uint32_t i = 0; i < record->samples_count; i++) {
        html_format(page, "M%.1f 3v8", at(stats, spread, record->samples[i]));
    }
    html_format(page, "\"/><path class=\"median\" d=\"M%.1f 0v14\"/>",
        at(stats, spread, stats->median));
    html_add(page, "</svg>");
}

static void add_row(const struct html *page, const struct report_shape *of,
    const struct verdict *verdict, double spread)
{
    const struct report_scale *const scale = report_scale_of(of->shape->unit);
    char label[2 * LABEL_BYTES + 4];

    report_verdict_label(page->facts, of->unit, verdict, label);
    html_add(page, "<tr><th scope=\"row\">");
    html_text(page, label);
    add_strip(page, verdict, spread);
    html_format(page,
        "<td class=\"n\">%u<td class=\"n\">%.*f<td class=\"n\">%.*f"
        "<td class=\"n\">%.*f<td class=\"flags\">",
        verdict->record->samples_count, scale->decimals,
        verdict->stats.min / scale->divisor, scale->decimals,
        verdict->stats.median / scale->divisor, scale->decimals,
        verdict->stats.max / scale->divisor);
    for (uint32_t i = 0; i < verdict->record->flags_count; i++) {
        html_text(page, verdict->record->flags[i]);
        html_add(page, " ");
    }
    html_add(page, "</tr>\n");
}

void html_samples_add(const struct html *page, const struct report_shape *of)
{
    struct arena arena;
    struct html_summary summary;
    uint32_t count = 0;

    html_summarise(of, &summary);
    arena_init(&arena, SIZE_MAX);

    struct ranked *const list = arena_alloc(&arena, of->count, sizeof *list);

    for (uint32_t i = 0; list != NULL && i < of->count; i++) {
        if (has_samples(&of->list[i])) {
            list[count++] = (struct ranked){ &of->list[i],
                rank_of(of->shape, &of->list[i], summary.median) };
        }
    }
    if (count > SHOWN_LIMIT) {
        qsort(list, count, sizeof *list, compare);
    }

    const uint32_t shown = count < SHOWN_LIMIT ? count : SHOWN_LIMIT;

    if (shown > 0) {
        const double spread = spread_of(list, shown);

        html_format(page, "<details><summary>Samples%s</summary>\n",
            shown < count ? " of the cells that look worst" : "");
        html_format(page,
            "<table class=\"bars\"><thead><tr><td><th class=\"mid\">"
            "median &#177; %.1f %%<th>samples<th>minimum"
            "<th>median<th>maximum<th "
            "class=\"flags\">flags</tr></thead><tbody>\n",
            spread * 100.0);
        for (uint32_t i = 0; i < shown; i++) {
            add_row(page, of, list[i].verdict, spread);
        }
        html_add(page, "</tbody></table></details>\n");
    }
    arena_clear(&arena);
}
