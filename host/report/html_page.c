/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "html_page.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "report_escape.h"

void html_add(const struct html *page, const char *markup)
{
    strbuf_add(page->out, markup);
}

void html_format(const struct html *page, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    strbuf_add(page->out, text);
}

void html_text(const struct html *page, const char *text)
{
    escape_markup(page->out, text);
}

void html_element(const struct html *page, const char *name, const char *text)
{
    html_format(page, "<%s>", name);
    html_text(page, text);
    html_format(page, "</%s>", name);
}

void html_figure(const struct html *page, uint32_t unit, double value)
{
    char text[64];

    if (!isnan(value)) {
        report_figure(unit, value, text, sizeof text);
        html_text(page, text);
    }
}

const char *html_mark(uint32_t state)
{
    return state == STATE_FAIL      ? "!"
           : state == STATE_INVALID ? "?"
           : state == STATE_WARN    ? "~"
                                    : "";
}

void html_summarise(const struct report_shape *of, struct html_summary *out)
{
    struct arena arena;
    struct stats stats;
    double *figures = NULL;

    *out = (struct html_summary){ .worst = report_shape_worst(of) };
    arena_init(&arena, SIZE_MAX);
    figures = arena_alloc(&arena, of->count, sizeof *figures);
    for (uint32_t i = 0; figures != NULL && i < of->count; i++) {
        if (!isnan(of->list[i].figure)) {
            figures[out->measured++] = of->list[i].figure;
        }
    }
    stats_of(figures, out->measured, &stats);
    out->least = stats.min;
    out->median = stats.median;
    out->most = stats.max;
    arena_clear(&arena);
}

int html_shape_next(struct html_shapes *at)
{
    if (at->next_shape >= at->unit->shapes_count) {
        return 0;
    }

    const struct unit_shape *const shape = &at->unit->shapes[at->next_shape++];

    at->of = (struct report_shape){
        .unit = at->unit, .shape = shape, .list = at->list + at->done
    };
    while (at->done < at->count && at->list[at->done].metric == shape->metric) {
        at->done++;
        at->of.count++;
    }
    return 1;
}

double html_goodness(const struct unit_shape *shape, double figure, double than)
{
    const double ratio =
        shape->better == NVBW_LOWER ? than / figure : figure / than;

    return isfinite(ratio) ? ratio : NAN;
}
