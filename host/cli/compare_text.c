/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "compare_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quantity.h"
#include "record_json.h"
#include "report_matrix.h"
#include "unit_name.h"

static const char *or_text(const char *text, const char *other)
{
    return text != NULL ? text : other;
}

static const char *word_of(const struct comparison *comparison)
{
    return or_text(name_of(comparison_words, comparison->word), "?");
}

/* ---- text ---- */

static void add_run(
    struct strbuf *out, const char *which, const struct evidence *evidence)
{
    strbuf_format(out, "%s: plan \"%s\" on %s, %s, driver %s, nvbw-host %s\n",
        which, or_text(evidence->plan.name, "unnamed"),
        or_text(evidence->facts.host, "unknown host"),
        or_text(evidence->header.started, "unknown time"),
        or_text(evidence->facts.driver_version, "none"),
        or_text(evidence->header.build, "?"));
}

static void add_change(
    struct strbuf *out, const struct comparison *one, uint32_t measure)
{
    char before[32];
    char now[32];

    quantity_format(one->before.value, measure, before, sizeof before);
    quantity_format(one->now.value, measure, now, sizeof now);
    strbuf_format(out, "%s -> %s, %+.1f %%", before, now, one->change * 100.0);
    if (one->low <= one->high) {
        strbuf_format(
            out, " (%+.1f to %+.1f)", one->low * 100.0, one->high * 100.0);
    }
    strbuf_format(out, ", margin %.1f %%", one->margin * 100.0);
}

static void add_line(const struct compare_request *request,
    const struct comparison *one, struct strbuf *out)
{
    const struct unit *const unit = &request->now->units[one->unit];
    struct cell_place place = { 0 };
    char label[2 * LABEL_BYTES + 4];
    char name[UNIT_NAME_BYTES];

    unit_cell_at(unit, one->cell, &place);
    report_cell_label(&request->now->facts, unit, one->cell, label);
    unit_name(&request->now->plan, unit, name);
    strbuf_format(out, "%-6s  %s%s%s %s%s%s", word_of(one), name,
        unit->sweep == NULL ? "" : " ", or_text(unit->sweep, ""),
        unit->shapes[place.shape].metric, label[0] == '\0' ? "" : " ", label);
    strbuf_add(out, ": ");
    if (one->word == COMPARE_ONLY_NEW) {
        strbuf_add(out, "not measured before");
    } else if (one->word == COMPARE_LOST || one->word == COMPARE_LEFT_OUT) {
        strbuf_format(out, "measured before, now %s", or_text(one->reason, ""));
    } else {
        add_change(out, one, unit->shapes[place.shape].unit);
    }
    if (one->word == COMPARE_UNSURE && one->reason != NULL) {
        strbuf_format(out, "; %s", one->reason);
    }
    if (one->reach > one->margin) {
        strbuf_format(
            out, " (%s: up to %.1f %%)", one->kind, one->reach * 100.0);
    }
    strbuf_add(out, "\n");
}

static const char *are(uint32_t count)
{
    return count == 1 ? " is" : "s are";
}

static void add_verdict(
    const uint32_t *by, int32_t exit_code, struct strbuf *out)
{
    const uint32_t slower = by[COMPARE_SLOWER];
    const uint32_t lost = by[COMPARE_LOST];

    if (slower > 0) {
        strbuf_format(out, "SLOWER: %u cell%s slower", slower, are(slower));
        if (lost > 0) {
            strbuf_format(out, " and %u lost", lost);
        }
    } else if (lost > 0) {
        strbuf_format(
            out, "LOST: %u cell%s not measured any more", lost, are(lost));
    } else {
        strbuf_format(out, "%s: no cell is slower",
            by[COMPARE_UNSURE] > 0 ? "UNSURE" : "SAME");
    }
    strbuf_format(out, ", exit %d\n", exit_code);
}

static void add_counts(
    const struct comparisons *comparisons, struct strbuf *out)
{
    const uint32_t *const by = comparisons->by_word;

    strbuf_format(out,
        "%u cells: %u same, %u slower, %u faster, %u unsure, %u lost, %u left "
        "out, %u new; %u of the old run were not planned now\n",
        comparisons->count, by[COMPARE_SAME], by[COMPARE_SLOWER],
        by[COMPARE_FASTER], by[COMPARE_UNSURE], by[COMPARE_LOST],
        by[COMPARE_LEFT_OUT], by[COMPARE_ONLY_NEW], comparisons->only_old);
    add_verdict(by, comparisons->exit_code, out);
}

void compare_text(const struct compare_request *request,
    const struct comparisons *comparisons, int all, struct strbuf *out)
{
    add_run(out, "old", request->before);
    add_run(out, "new", request->now);
    for (uint32_t i = 0; i < comparisons->count; i++) {
        const struct comparison *const one = &comparisons->list[i];

        if (all ||
            (one->word != COMPARE_SAME && one->word != COMPARE_LEFT_OUT)) {
            add_line(request, one, out);
        }
    }
    add_counts(comparisons, out);
}

/* ---- JSON ---- */

static json_t *run_json(const struct evidence *evidence)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "run_id",
        text_to_json(evidence->header.run_id), "started",
        text_to_json(evidence->header.started), "build",
        text_to_json(evidence->header.build), "host",
        text_to_json(evidence->facts.host), "driver_version",
        text_to_json(evidence->facts.driver_version), "plan",
        text_to_json(evidence->plan.name), "simulated",
        (int)evidence->facts.simulated);
}

static json_t *figure_json(const struct cell_figure *figure)
{
    if (isnan(figure->value)) {
        return json_null();
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:i, s:i}", "value",
        real_to_json(figure->value), "low", real_to_json(figure->low), "high",
        real_to_json(figure->high), "spread", real_to_json(figure->spread),
        "samples", (int)figure->samples, "attempts", (int)figure->attempts);
}

static json_t *cell_json(
    const struct compare_request *request, const struct comparison *one)
{
    const struct unit *const unit = &request->now->units[one->unit];
    struct cell_place place = { 0 };
    char row[LABEL_BYTES];
    char col[LABEL_BYTES];

    unit_cell_at(unit, one->cell, &place);
    report_label(&request->now->facts, unit, &unit->shapes[place.shape], 0,
        place.row, row);
    report_label(&request->now->facts, unit, &unit->shapes[place.shape], 1,
        place.col, col);
    return json_pack("{s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:s, s:o, s:o, s:o, "
                     "s:o, s:o, s:o, s:o, s:o, s:o}",
        "plugin", text_to_json(unit->plugin), "testcase",
        text_to_json(unit->testcase), "sweep", text_to_json(unit->sweep),
        "round", (int)unit->round, "metric",
        text_to_json(unit->shapes[place.shape].metric), "row_label",
        text_to_json(row[0] == '\0' ? NULL : row), "col_label",
        text_to_json(col[0] == '\0' ? NULL : col), "verdict", word_of(one),
        "reason", text_to_json(one->reason), "old", figure_json(&one->before),
        "new", figure_json(&one->now), "change", real_to_json(one->change),
        "change_low", real_to_json(one->low), "change_high",
        real_to_json(one->high), "margin", real_to_json(one->margin), "reach",
        real_to_json(one->reach), "kind", text_to_json(one->kind));
}

static json_t *counts_json(const struct comparisons *comparisons)
{
    const uint32_t *const by = comparisons->by_word;

    return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "same",
        (int)by[COMPARE_SAME], "slower", (int)by[COMPARE_SLOWER], "faster",
        (int)by[COMPARE_FASTER], "unsure", (int)by[COMPARE_UNSURE], "lost",
        (int)by[COMPARE_LOST], "left_out", (int)by[COMPARE_LEFT_OUT], "new",
        (int)by[COMPARE_ONLY_NEW], "only_old", (int)comparisons->only_old);
}

static int add_to_buffer(const char *bytes, size_t length, void *out)
{
    strbuf_add_n(out, bytes, length);
    return ((struct strbuf *)out)->failed ? -1 : 0;
}

int32_t compare_json(const struct compare_request *request,
    const struct comparisons *comparisons, struct strbuf *out,
    struct error *err)
{
    json_t *const cells = json_array();

    for (uint32_t i = 0; i < comparisons->count; i++) {
        json_array_append_new(cells, cell_json(request, &comparisons->list[i]));
    }

    json_t *const document = json_pack("{s:s, s:i, s:i, s:o, s:o, s:o, s:o}",
        "schema", "nvbw-compare", "schema_version", 1, "exit_code",
        (int)comparisons->exit_code, "old", run_json(request->before), "new",
        run_json(request->now), "counts", counts_json(comparisons), "cells",
        cells);

    FAIL_IF(document == NULL, err, NVBW_E_SYSTEM,
        "the comparison cannot be written: no memory, or text that is no "
        "UTF-8");

    const int failed = json_dump_callback(
        document, add_to_buffer, out, JSON_INDENT(1) | JSON_REAL_PRECISION(15));

    json_decref(document);
    strbuf_add(out, "\n");
    FAIL_IF(failed != 0 || out->failed, err, NVBW_E_SYSTEM,
        "the comparison is too large to be written");
    return NVBW_OK;
}
