/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "report_formats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report_cell.h"
#include "report_lines.h"
#include "report_matrix.h"
#include "unit_name.h"

enum {
    LISTED_LIMIT = 8,
    TITLE_LIMIT = 1 << 16,
    LINE_LIMIT = 1024,
    FORMULAS_LIMIT = 32
};

struct text_report {
    const struct report_input *input;
    const struct facts *facts;
    uint32_t columns;
    struct strbuf *out;
    const char *formulas[FORMULAS_LIMIT]; /* told already */
    uint32_t formulas_count;
};

static void add_line(
    struct text_report *report, uint32_t indent, const char *text)
{
    lines_add(report->out, report->columns, indent, text);
}

#define add_line_format(report, indent, ...)                                   \
    lines_format((report)->out, (report)->columns, indent, __VA_ARGS__)

static const char *or_text(const char *text, const char *other)
{
    return text != NULL ? text : other;
}

/* ---- head ---- */

/* "ranks 0-3 on host-0, 4-7 on host-1, a GPU each" */
static void add_ranks(struct text_report *report)
{
    const struct facts *const facts = report->facts;
    struct strbuf text;
    uint32_t first = 0;

    strbuf_init(&text, LINE_LIMIT);
    for (uint32_t i = 1; facts->ranks > 0 && i <= facts->gpus_count; i++) {
        const char *const host = or_text(facts->gpus[first].host, "?");

        if (i < facts->gpus_count &&
            strcmp(or_text(facts->gpus[i].host, "?"), host) == 0) {
            continue;
        }
        strbuf_format(
            &text, "%s%u", first == 0 ? "ranks " : ", ", (unsigned)first);
        if (i - first > 1) {
            strbuf_format(&text, "-%u", (unsigned)i - 1);
        }
        strbuf_format(&text, " on %s", host);
        first = i;
    }
    if (text.length > 0) {
        strbuf_add(&text, ", a GPU each");
        add_line(report, 0, text.text);
    }
    strbuf_free(&text);
}

static void add_machine(struct text_report *report)
{
    const struct facts *const facts = report->facts;

    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        uint32_t like = 1;

        while (i + like < facts->gpus_count &&
               strcmp(or_text(facts->gpus[i].name, "?"),
                   or_text(facts->gpus[i + like].name, "?")) == 0) {
            like++;
        }
        add_line_format(report, 0, "%u x %s", like,
            or_text(facts->gpus[i].name, "unknown GPU"));
        i += like - 1;
    }
    if (facts->gpus_count == 0) {
        add_line(report, 0, "no GPU");
    }
    add_ranks(report);
    if (facts->driver_version != NULL) {
        add_line_format(report, 0, "driver %s, CUDA %u.%u",
            facts->driver_version, facts->cuda_version / 1000,
            facts->cuda_version % 1000 / 10);
    }
}

static void add_head(struct text_report *report)
{
    const struct evidence *const evidence = report->input->evidence;

    report_banner_add(report->input, report->columns, report->out);
    add_line_format(report, 0, "nvbw-host %s: plan \"%s\" on %s, %s",
        or_text(evidence->header.build, "?"),
        or_text(evidence->plan.name, "unnamed"),
        or_text(report->facts->host, "unknown host"),
        or_text(evidence->header.started, "unknown time"));
    add_machine(report);
    if (evidence->header.untrusted) {
        add_line(report, 0,
            "plugins were loaded without the trust check (--trust-plugins)");
    }
    if (evidence->header.wrapped) {
        add_line(report, 0,
            "workers ran under another program (--wrap): figures may be low");
    }
}

/* ---- one metric ---- */

/* In the unit of the heading, so that it can be found in the matrix. */
static void format_figure(uint32_t unit, double value, char *out, size_t size)
{
    const struct report_scale *const scale = report_scale_of(unit);

    snprintf(out, size, "%.*f%s%s", scale->decimals, value / scale->divisor,
        scale->word[0] == '\0' ? "" : " ", scale->word);
}

/* The derivation of a rate is told once; from then on the rate stands for it.
 */
static int is_told(struct text_report *report, const char *formula)
{
    for (uint32_t i = 0; i < report->formulas_count; i++) {
        if (strcmp(report->formulas[i], formula) == 0) {
            return 1;
        }
    }
    if (report->formulas_count < FORMULAS_LIMIT) {
        report->formulas[report->formulas_count++] = formula;
    }
    return 0;
}

static void add_utilisation(
    struct text_report *report, const struct report_shape *of)
{
    double low = INFINITY;
    double high = -INFINITY;
    double rate = NAN;
    const char *formula = NULL;
    char share[48];
    char whole[64];

    for (uint32_t i = 0; i < of->count; i++) {
        if (!isnan(of->list[i].utilisation)) {
            low = fmin(low, of->list[i].utilisation);
            high = fmax(high, of->list[i].utilisation);
            rate = of->list[i].theoretical;
            formula = of->list[i].theoretical_formula;
        }
    }
    if (formula == NULL) {
        return;
    }
    format_figure(of->shape->unit, rate, whole, sizeof whole);
    if (high - low < 0.005) {
        snprintf(share, sizeof share, "%.0f %%", high * 100.0);
    } else {
        snprintf(
            share, sizeof share, "%.0f to %.0f %%", low * 100.0, high * 100.0);
    }
    if (is_told(report, formula)) {
        add_line_format(report, 2, "utilisation %s of %s", share, whole);
    } else {
        add_line_format(report, 2, "utilisation %s of %s", share, formula);
    }
}

static void add_limit(struct text_report *report, const struct report_shape *of)
{
    const struct verdict *const worst = report_shape_worst(of);
    const int is_relative = worst != NULL && !isnan(worst->base);
    char limit[64];
    char figure[64];
    char label[2 * LABEL_BYTES + 4];

    if (worst == NULL) {
        return;
    }
    format_figure(of->shape->unit, worst->figure, figure, sizeof figure);
    report_verdict_label(report->facts, of->unit, worst, label);
    if (isnan(worst->limit)) {
        struct strbuf text;

        strbuf_init(&text, LINE_LIMIT);
        report_no_limit(worst, &text);
        if (of->count > 1) {
            strbuf_format(&text, "; worst %s at %s", figure, label);
        }
        add_line(report, 2, text.text);
        strbuf_free(&text);
        return;
    }
    format_figure(of->shape->unit, worst->limit, limit, sizeof limit);
    add_line_format(report, 2, "%s %s (%s%s%s:%u); worst %s%s%s, %+.1f %%",
        worst->limit_is_max ? "at most" : "at least", limit,
        is_relative ? worst->limit_text : "", is_relative ? ", " : "",
        or_text(worst->limit_origin.file, "default"), worst->limit_origin.line,
        figure, label[0] == '\0' ? "" : " at ", label, worst->margin * 100.0);
}

/* Minimum, median and maximum: for matrices of more than one cell. */
static void add_summary_of(
    struct text_report *report, const struct report_shape *of)
{
    const struct report_scale *const scale = report_scale_of(of->shape->unit);
    struct arena arena;
    double *figures = NULL;
    uint32_t count = 0;
    struct stats stats;

    arena_init(&arena, SIZE_MAX);
    figures = arena_alloc(&arena, of->count, sizeof *figures);
    for (uint32_t i = 0; figures != NULL && i < of->count; i++) {
        if (!isnan(of->list[i].figure)) {
            figures[count++] = of->list[i].figure / scale->divisor;
        }
    }
    stats_of(figures, count, &stats);
    if (count > 2) {
        add_line_format(report, 2,
            "minimum %.*f, median %.*f, maximum %.*f over %u cells",
            scale->decimals, stats.min, scale->decimals, stats.median,
            scale->decimals, stats.max, count);
    }
    arena_clear(&arena);
}

static uint32_t count_flag(const struct report_shape *of, const char *flag)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < of->count; i++) {
        const struct record *const record = of->list[i].record;

        for (uint32_t k = 0; record != NULL && k < record->flags_count; k++) {
            count += strcmp(record->flags[k], flag) == 0;
        }
    }
    return count;
}

/* Figures that are not of a quiet machine must not be taken for such. */
static void add_flags(struct text_report *report, const struct report_shape *of)
{
    static const struct {
        const char *flag, *words;
    } flags[] = {
        { "concurrent", "were measured while others were" },
        { "busy", "were measured while another process used the GPU" },
        { "power_capped",
            "were measured while the power limit held clocks down" },
        { "staged", "were measured while peer access was off: host-staged" },
        { "cache_bound", "moved so few bytes that a cache may have answered" },
        { "cache_unknown", "have buffers for a cache whose size is not known" },
        { "imprecise", "scatter more than the precision asked for allows" },
        { "unsettled", "began before two pilots in a row agreed" },
        { "drift", "changed from their first to their last sample" },
        { "short", "have samples of less than 4 ms" },
        { "half", "are half of what one kernel moved both ways" },
        { "coarse", "are known no better than to 2 %" },
        { "sms_missed", "left out some multiprocessors" },
    };

    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        const uint32_t count = count_flag(of, flags[i].flag);

        if (count > 0) {
            add_line_format(report, 2, "%s: %u of %u cells %s", flags[i].flag,
                count, of->count, flags[i].words);
        }
    }
}

static int has_figure(const struct report_shape *of)
{
    for (uint32_t i = 0; i < of->count; i++) {
        if (!isnan(of->list[i].figure)) {
            return 1;
        }
    }
    return 0;
}

static void add_shape(struct text_report *report, const struct report_shape *of)
{
    if (!has_figure(of)) {
        return;
    }
    strbuf_format(report->out, "  %s (%s)\n", of->shape->metric,
        report_scale_of(of->shape->unit)->word);
    report_matrix_add(report->input, of, report->out);
    add_summary_of(report, of);
    add_flags(report, of);
    add_utilisation(report, of);
    add_limit(report, of);
}

/* ---- what needs words ---- */

static int is_silent(const struct verdict *verdict)
{
    return verdict->state == STATE_PASS ||
           (verdict->state == STATE_UNCHECKED && verdict->exit_code == 0);
}

static int is_same(const char *one, const char *other)
{
    return strcmp(or_text(one, ""), or_text(other, "")) == 0;
}

static int is_alike(const struct verdict *one, const struct verdict *other)
{
    return one->state == other->state && is_same(one->reason, other->reason) &&
           is_same(one->message, other->message) &&
           one->accept == other->accept;
}

static const char *paint_of_state(const struct verdict *verdict)
{
    return verdict->exit_code == EXIT_PASSED ? ""
           : verdict->state == STATE_FAIL || verdict->state == STATE_MISMATCH
               ? PAINT_BAD
               : PAINT_ODD;
}

static void add_group(struct text_report *report, const struct unit *unit,
    const struct verdict *first, uint32_t count)
{
    char label[2 * LABEL_BYTES + 4];
    char where[3 * LABEL_BYTES];

    report_verdict_label(report->facts, unit, first, label);
    if (count == unit_cell_count(unit) && count > 1) {
        snprintf(where, sizeof where, "all %u cells", count);
    } else if (count > 1) {
        snprintf(
            where, sizeof where, "%u cells, the first at %s", count, label);
    } else {
        snprintf(where, sizeof where, "%.32s%s%s", first->metric,
            label[0] == '\0' ? "" : " ", label);
    }
    lines_paint(report->out, report->input, paint_of_state(first));
    add_line_format(report, 2, "%s%s%s%s%s, %s: %s",
        first->accept == NULL ? "" : "accepted ",
        name_of(state_names, first->state), first->reason == NULL ? "" : " (",
        or_text(first->reason, ""), first->reason == NULL ? "" : ")", where,
        or_text(first->message, "no message"));
    lines_paint(report->out, report->input, PAINT_END);
    if (first->accept != NULL) {
        add_line_format(
            report, 4, "known: %s", or_text(first->accept->why, ""));
    }
}

/* Cells with the same word on them share a line; a long list is folded. */
static void add_words(struct text_report *report, const struct unit *unit,
    const struct verdict *list, uint32_t count)
{
    uint32_t groups = 0;
    uint32_t folded = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t like = 0;
        uint32_t before = 0;

        if (is_silent(&list[i])) {
            continue;
        }
        while (before < i && !is_alike(&list[before], &list[i])) {
            before++;
        }
        if (before < i) {
            continue;
        }
        if (groups++ >= LISTED_LIMIT) {
            folded++;
            continue;
        }
        for (uint32_t k = i; k < count; k++) {
            like += (uint32_t)is_alike(&list[k], &list[i]);
        }
        add_group(report, unit, &list[i], like);
    }
    if (folded > 0) {
        add_line_format(report, 2,
            "... and %u more; the json report has all of them", folded);
    }
}

/* ---- units ---- */

static void add_title(
    struct text_report *report, const struct unit *unit, uint32_t like)
{
    struct arena arena;

    arena_init(&arena, TITLE_LIMIT);

    const char *const title = unit_title(unit, &arena);
    const char *const id = unit_suite_id(&report->input->evidence->plan, unit);

    strbuf_add(report->out, "\n");

    const size_t from = report->out->length;

    strbuf_add(report->out, title == NULL ? "?" : title);
    if (id != NULL) {
        strbuf_format(report->out, " (%s)", id);
    }
    lines_clean(report->out, from);
    if (unit->round > 0) {
        strbuf_format(report->out, ", round %u", unit->round + 1);
    }
    if (like > 1) {
        strbuf_format(report->out, " and %u more", like - 1);
    }
    strbuf_add(report->out, "\n");
    arena_clear(&arena);
}

static void add_unit(struct text_report *report, const struct unit *unit,
    const struct verdict *list, uint32_t count)
{
    uint32_t done = 0;

    add_title(report, unit, 1);
    for (uint32_t i = 0; i < unit->shapes_count && done < count; i++) {
        struct report_shape of = { unit, &unit->shapes[i], list + done, 0 };

        while (done < count && list[done].metric == unit->shapes[i].metric) {
            of.count++;
            done++;
        }
        add_shape(report, &of);
    }
    add_words(report, unit, list, count);
}

/* How many verdicts from `first` on belong to one unit. */
static uint32_t span_of_unit(const struct verdicts *verdicts, uint32_t first)
{
    uint32_t count = 1;

    while (first + count < verdicts->count &&
           verdicts->list[first + count].unit == verdicts->list[first].unit) {
        count++;
    }
    return count;
}

/* How many verdicts from `first` on have no figure and the same to say, over
 * whole units of one plugin; 0 if not even the first unit. */
static uint32_t span_alike(
    const struct text_report *report, uint32_t first, uint32_t *out_units)
{
    const struct verdicts *const verdicts = report->input->verdicts;
    const struct unit *const units = report->input->evidence->units;
    const struct verdict *const head = &verdicts->list[first];
    uint32_t span = 0;

    *out_units = 0;
    while (first + span < verdicts->count) {
        const struct verdict *const list = head + span;
        const uint32_t count = span_of_unit(verdicts, first + span);

        if (strcmp(units[list->unit].plugin, units[head->unit].plugin) != 0) {
            return span;
        }
        for (uint32_t i = 0; i < count; i++) {
            if (!isnan(list[i].figure) || !is_alike(head, &list[i])) {
                return span;
            }
        }
        span += count;
        *out_units += 1;
    }
    return span;
}

static void add_alike(struct text_report *report, const struct verdict *head,
    uint32_t units, uint32_t cells)
{
    add_title(report, &report->input->evidence->units[head->unit], units);
    add_line_format(report, 2, "%s%s%s%s, %u cells: %s",
        name_of(state_names, head->state), head->reason == NULL ? "" : " (",
        or_text(head->reason, ""), head->reason == NULL ? "" : ")", cells,
        or_text(head->message, "no message"));
}

static void add_units(struct text_report *report)
{
    const struct verdicts *const verdicts = report->input->verdicts;
    const struct evidence *const evidence = report->input->evidence;
    uint32_t done = 0;

    while (done < verdicts->count) {
        const struct verdict *const head = &verdicts->list[done];
        uint32_t units = 0;
        uint32_t count = span_alike(report, done, &units);

        if (units > 1) {
            add_alike(report, head, units, count);
        } else {
            count = span_of_unit(verdicts, done);
            add_unit(report, &evidence->units[head->unit], head, count);
        }
        done += count;
    }
}

int32_t report_text(
    const struct report_input *input, struct strbuf *out, struct error *err)
{
    struct text_report report = { .input = input,
        .facts = &input->evidence->facts,
        .columns = input->columns < 40 ? 80 : input->columns,
        .out = out };

    (void)err;
    add_head(&report);
    add_units(&report);
    report_foot_add(input, report.columns, out);
    return NVBW_OK;
}
