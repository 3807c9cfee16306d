/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "bounds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cell_figure.h"

static void no_base(struct bound *out, const char *why)
{
    snprintf(out->trouble, sizeof out->trouble, "%s", why);
}

static const char no_ceiling[] =
    "no limit of the hardware can be derived for its path";

static const char *file_name(const char *path)
{
    const char *const slash = path == NULL ? NULL : strrchr(path, '/');

    if (slash != NULL) {
        return slash + 1;
    }
    return path == NULL ? "" : path;
}

static void expected(const struct bound_source *source,
    const struct record *record, struct bound *out)
{
    struct ceiling ceiling;
    struct traffic traffic;
    char class[64];

    ceiling_of_record(
        &source->evidence->facts, record, CEILING_EXPECTED, &ceiling);
    if (isnan(ceiling.rate)) {
        no_base(out, no_ceiling);
        return;
    }
    traffic_of_record(&source->evidence->facts, record, &traffic);
    traffic_format(&traffic, class, sizeof class);

    const char *const gpu = traffic_gpu(&source->evidence->facts, record);
    const struct efficiency_row *const row =
        efficiency_find(source->evidence->efficiencies,
            source->evidence->efficiencies_count, gpu, &traffic);

    if (row == NULL) {
        snprintf(out->trouble, sizeof out->trouble,
            "no efficiency of the class \"%s\" is known for %.80s", class,
            gpu == NULL ? "a GPU without a name" : gpu);
        return;
    }

    const char *const kind = name_of(efficiency_kinds, row->kind);

    out->base_value = ceiling.rate * row->efficiency;
    snprintf(out->formula, sizeof out->formula,
        "%s, x %g (%s; %.60s:%u, %s: %.160s)", ceiling.formula, row->efficiency,
        class, file_name(row->origin.file), (unsigned)row->origin.line,
        kind == NULL ? "?" : kind, row->source == NULL ? "" : row->source);
}

static void link_now(const struct bound_source *source,
    const struct record *record, struct bound *out)
{
    struct ceiling ceiling;

    ceiling_of_record(&source->evidence->facts, record, CEILING_NOW, &ceiling);
    if (isnan(ceiling.rate)) {
        no_base(out, no_ceiling);
        return;
    }
    out->base_value = ceiling.rate;
    snprintf(out->formula, sizeof out->formula, "%s", ceiling.formula);
}

static void of_siblings(const struct bound_source *source,
    const struct record *record, struct bound *out)
{
    uint32_t count = 0;

    out->base_value = siblings_median(
        source->siblings, &source->evidence->facts, record, &count);
    if (isnan(out->base_value)) {
        snprintf(out->trouble, sizeof out->trouble,
            "only %u cells of its class were measured; siblings need %d", count,
            SIBLINGS_LEAST);
        return;
    }
    snprintf(out->formula, sizeof out->formula,
        "median of the %u cells of its class", count);
}

static int unit_place(const struct unit *unit, const struct record *record,
    struct cell_place *out)
{
    const int32_t number =
        unit_cell_number(unit, record->metric, record->row, record->col);

    return number >= 0 && unit_cell_at(unit, (uint32_t)number, out);
}

static void baseline(const struct bound_source *source,
    const struct record *record, struct bound *out)
{
    const struct counterpart *const to = source->counterpart;
    const struct unit *const unit = &source->evidence->units[record->unit];
    struct cell_place here = { 0 };
    struct cell_place there = { 0 };
    struct cell_figure figure;

    if (to == NULL) {
        no_base(out, "no baseline was given");
        return;
    }
    if (to->unit == NULL) {
        snprintf(out->trouble, sizeof out->trouble,
            "no base in the baseline: "
            "%.200s",
            to->trouble);
        return;
    }
    if (!unit_place(unit, record, &here) ||
        !counterpart_cell(to, unit, &here, &there) ||
        !cell_figure_of(to->other, to->unit->id, record->metric, there.row,
            there.col, &figure)) {
        no_base(out, "the baseline did not measure this cell");
        return;
    }
    out->base_value = figure.value;
    snprintf(out->formula, sizeof out->formula,
        "the baseline of %.40s, median of %u sample%s in %u attempt%s",
        to->other->header.started == NULL ? "an unknown time"
                                          : to->other->header.started,
        figure.samples, figure.samples == 1 ? "" : "s", figure.attempts,
        figure.attempts == 1 ? "" : "s");
}

static void absolute(const struct bound_source *source,
    const struct record *record, struct bound *out)
{
    (void)source;
    (void)record;
    (void)out;
}

void bound_of(const struct bound_source *source, const struct record *record,
    const char *text, struct bound *out)
{
    static void (*const finders[])(
        const struct bound_source *, const struct record *, struct bound *) = {
        [LIMIT_ABSOLUTE] = absolute,
        [LIMIT_EXPECTED] = expected,
        [LIMIT_LINK] = link_now,
        [LIMIT_SIBLINGS] = of_siblings,
        [LIMIT_BASELINE] = baseline,
    };
    struct error why = { 0 };
    double value = NAN;
    uint32_t value_unit = 0;

    *out = (struct bound){ .value = NAN, .base_value = NAN };
    if (quantity_limit(text, &out->base, &value, &value_unit, &why) < 0) {
        snprintf(out->trouble, sizeof out->trouble, "%.250s", why.text);
        return;
    }
    finders[out->base](source, record, out);
    out->value = out->base == LIMIT_ABSOLUTE ? value : value * out->base_value;
}
