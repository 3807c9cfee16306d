/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The results of the HTML report: a section per unit, or one for all points of
 * a sweep. */
#include "html_page.h"

#include <math.h>
#include <string.h>

enum { LISTED_LIMIT = 12, LINE_LIMIT = 1024 };

static int is_same(const char *one, const char *other)
{
    return strcmp(one == NULL ? "" : one, other == NULL ? "" : other) == 0;
}

/* ---- one metric ---- */

static void add_range(const struct html *page, const struct report_shape *of,
    const struct html_summary *summary)
{
    if (summary->measured > 2) {
        html_add(page, "<li>minimum ");
        html_figure(page, of->shape->unit, summary->least);
        html_add(page, ", median ");
        html_figure(page, of->shape->unit, summary->median);
        html_add(page, ", maximum ");
        html_figure(page, of->shape->unit, summary->most);
        html_format(page, " over %u cells</li>\n", summary->measured);
    }
}

static void add_limit(const struct html *page, const struct report_shape *of,
    const struct verdict *worst)
{
    char label[2 * LABEL_BYTES + 4];

    if (isnan(worst->limit)) {
        struct strbuf text;

        strbuf_init(&text, LINE_LIMIT);
        report_no_limit(worst, &text);
        html_element(page, "li", text.text);
        strbuf_free(&text);
        return;
    }
    report_verdict_label(page->facts, of->unit, worst, label);
    html_add(page, worst->limit_is_max ? "<li>at most " : "<li>at least ");
    html_figure(page, of->shape->unit, worst->limit);
    html_add(page, " (");
    html_text(page, worst->limit_text);
    html_add(page, ", ");
    html_text(page, worst->limit_origin.file == NULL
                        ? "default"
                        : worst->limit_origin.file);
    html_format(page, ":%u); worst ", (unsigned)worst->limit_origin.line);
    html_figure(page, of->shape->unit, worst->figure);
    if (label[0] != '\0') {
        html_add(page, " at ");
        html_text(page, label);
    }
    html_format(page, ", %+.1f %%</li>\n", worst->margin * 100.0);
    if (worst->base_formula != NULL) {
        html_add(page, "<li>expected: ");
        html_text(page, worst->base_formula);
        html_add(page, "</li>\n");
    }
}

static void add_shape(const struct html *page, const struct report_shape *of)
{
    struct html_summary summary;

    html_summarise(of, &summary);
    if (summary.worst == NULL) {
        return;
    }
    html_add(page, "<div class=\"metric\"><h4>");
    html_text(page, of->shape->metric);
    html_format(page, " (%s)</h4>\n", report_scale_of(of->shape->unit)->word);
    if (of->shape->rows > 1 && of->shape->cols > 1) {
        html_matrix_add(page, of);
    } else {
        html_bars_add(page, of);
    }
    html_add(page, "<ul class=\"notes\">\n");
    add_range(page, of, &summary);
    add_limit(page, of, summary.worst);
    if (summary.worst->theoretical_formula != NULL) {
        html_add(page, "<li>the path: ");
        html_text(page, summary.worst->theoretical_formula);
        html_add(page, "</li>\n");
    }
    html_add(page, "</ul>\n");
    html_samples_add(page, of);
    html_add(page, "</div>\n");
}

/* ---- what needs words ---- */

static int is_silent(const struct verdict *verdict)
{
    return verdict->state == STATE_PASS ||
           (verdict->state == STATE_UNCHECKED && verdict->exit_code == 0) ||
           isnan(verdict->figure);
}

static int is_alike(const struct verdict *one, const struct verdict *other)
{
    return one->state == other->state && one->accept == other->accept &&
           is_same(one->reason, other->reason) &&
           is_same(one->message, other->message);
}

struct group {
    const struct verdict *head;
    uint32_t count;
};

static void add_group(
    const struct html *page, const struct unit *unit, const struct group *group)
{
    const struct verdict *const head = group->head;
    char label[2 * LABEL_BYTES + 4];

    report_verdict_label(page->facts, unit, head, label);
    html_format(page, "<li><span class=\"s-%s\">%s%s</span> ",
        name_of(state_names, head->state),
        head->accept == NULL ? "" : "accepted ",
        name_of(state_names, head->state));
    html_text(page, head->metric);
    html_add(page, " ");
    html_text(page, label);
    if (group->count > 1) {
        html_format(page, " and %u more", group->count - 1);
    }
    html_add(page, ": ");
    html_text(page, head->message);
    if (head->accept != NULL) {
        html_add(page, "; known: ");
        html_text(page, head->accept->why);
    }
    html_add(page, "</li>\n");
}

/* Cells with a figure and the same word on them share a line. */
static void add_words(const struct html *page, const struct html_shapes *of)
{
    struct group groups[LISTED_LIMIT];
    uint32_t count = 0;
    uint32_t folded = 0;

    for (uint32_t i = 0; i < of->count; i++) {
        uint32_t at = 0;

        if (is_silent(&of->list[i])) {
            continue;
        }
        while (at < count && !is_alike(groups[at].head, &of->list[i])) {
            at++;
        }
        if (at < count) {
            groups[at].count++;
        } else if (count < LISTED_LIMIT) {
            groups[count++] = (struct group){ &of->list[i], 1 };
        } else {
            folded++;
        }
    }
    html_add(page, count > 0 ? "<ul class=\"words\">\n" : "");
    for (uint32_t i = 0; i < count; i++) {
        add_group(page, of->unit, &groups[i]);
    }
    if (folded > 0) {
        html_format(page, "<li>... and %u more cells</li>\n", folded);
    }
    html_add(page, count > 0 ? "</ul>\n" : "");
}

/* ---- sections ---- */

static void add_params(const struct html *page, const struct unit *unit)
{
    html_add(page, "<details><summary>Parameters</summary><dl>\n");
    for (uint32_t i = 0; i < unit->params_count; i++) {
        html_element(page, "dt", unit->params[i].name);
        html_add(page, "<dd>");
        for (uint32_t k = 0; k < unit->params[i].values_count; k++) {
            html_add(page, k == 0 ? "" : ", ");
            html_text(page, unit->params[i].values[k]);
        }
        html_add(page, "</dd>\n");
    }
    html_add(page, "</dl></details>\n");
}

static void add_title(const struct html *page, const struct unit *unit,
    const char *element, int has_sweep)
{
    html_format(page, "<%s>", element);
    html_text(page, unit->plugin);
    html_add(page, "/");
    html_text(page, unit->testcase);
    html_suite(page, unit);
    if (has_sweep && unit->sweep != NULL) {
        html_add(page, " <span class=\"sweep\">");
        html_text(page, unit->sweep);
        html_add(page, "</span>");
    }
    if (unit->round > 0) {
        html_format(page, ", round %u", unit->round + 1);
    }
    html_format(page, "</%s>\n", element);
}

static void add_body(const struct html *page, struct html_shapes *shapes)
{
    add_words(page, shapes);
    while (html_shape_next(shapes)) {
        add_shape(page, &shapes->of);
    }
    add_params(page, shapes->unit);
}

static int has_figure(const struct verdict *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!isnan(list[i].figure)) {
            return 1;
        }
    }
    return 0;
}

static void add_unit(const struct html *page, const struct html_sweep *one)
{
    struct html_shapes shapes = {
        .unit = one->units, .list = one->lists[0], .count = one->counts[0]
    };

    if (!has_figure(shapes.list, shapes.count)) {
        return;
    }
    html_format(page, "<section class=\"unit\" id=\"u%u\">", one->units->id);
    add_title(page, one->units, "h3", 1);
    add_body(page, &shapes);
    html_add(page, "</section>\n");
}

static void add_sweep(const struct html *page, const struct html_sweep *sweep)
{
    html_add(page, "<section class=\"unit\">");
    add_title(page, sweep->units, "h3", 0);
    html_curves_add(page, sweep);
    for (uint32_t i = 0; i < sweep->points; i++) {
        struct html_shapes shapes = { .unit = &sweep->units[i],
            .list = sweep->lists[i],
            .count = sweep->counts[i] };

        if (!has_figure(shapes.list, shapes.count)) {
            continue;
        }
        html_format(page, "<details class=\"point\" id=\"u%u\"><summary>",
            shapes.unit->id);
        html_text(page, shapes.unit->sweep);
        html_add(page, "</summary>\n");
        add_body(page, &shapes);
        html_add(page, "</details>\n");
    }
    html_add(page, "</section>\n");
}

static int is_same_sweep(const struct unit *one, const struct unit *other)
{
    return one->sweep != NULL && other->sweep != NULL &&
           one->suite == other->suite && one->round == other->round &&
           strcmp(one->plugin, other->plugin) == 0 &&
           strcmp(one->testcase, other->testcase) == 0;
}

static void add_legend(const struct html *page)
{
    static const char *const words[] = { "under 60 %", "60 to 80 %",
        "80 to 90 %", "90 to 97 %", "97 to 103 %", "103 to 110 %",
        "over 110 %" };

    html_add(page, "<p class=\"key\">Colours of heat maps: how good a cell is "
                   "beside the median of its matrix");
    for (int i = 0; i < 7; i++) {
        html_format(page, " <span class=\"c%d\">%s</span>", i, words[i]);
    }
    html_add(page, ". ! misses its limit, ~ is near it, ? is invalid. Bars: "
                   "the solid line is the limit, the dashed one what the path "
                   "can carry.</p>\n");
}

void html_units_add(const struct html *page)
{
    const struct evidence *const evidence = page->input->evidence;
    const struct verdicts *const verdicts = page->input->verdicts;
    struct arena arena;
    uint32_t done = 0;

    arena_init(&arena, SIZE_MAX);

    const struct verdict **const lists =
        arena_alloc(&arena, evidence->units_count, sizeof *lists);
    uint32_t *const counts =
        arena_alloc(&arena, evidence->units_count, sizeof *counts);

    html_add(page, "<section id=\"results\"><h2>Results</h2>\n");
    add_legend(page);
    for (uint32_t i = 0; counts != NULL && i < evidence->units_count; i++) {
        lists[i] = verdicts->list + done;
        counts[i] = 0;
        while (done < verdicts->count && verdicts->list[done].unit == i) {
            counts[i]++;
            done++;
        }
    }
    for (uint32_t i = 0; counts != NULL && i < evidence->units_count;) {
        struct html_sweep sweep = { &evidence->units[i], lists + i, counts + i,
            1 };

        while (i + sweep.points < evidence->units_count &&
               is_same_sweep(sweep.units, sweep.units + sweep.points)) {
            sweep.points++;
        }
        (sweep.points > 1 ? add_sweep : add_unit)(page, &sweep);
        i += sweep.points;
    }
    html_add(page, "</section>\n");
    arena_clear(&arena);
}
