/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "report_trends.h"

#include "record_json.h"
#include "report_lines.h"
#include "report_matrix.h"
#include "trend.h"
#include "unit_name.h"

enum { FALLS_LISTED = 8 };

static const struct unit *unit_of(
    const struct report_input *input, const struct trend *trend)
{
    return &input->evidence->units[trend->unit];
}

static const char *metric_of(const struct unit *unit, const struct trend *trend)
{
    struct cell_place place = { 0 };

    unit_cell_at(unit, trend->cell, &place);
    return unit->shapes[place.shape].metric;
}

/* ---- text ---- */

static void add_fall(const struct report_input *input, uint32_t columns,
    const struct trend *trend, const char *before, struct strbuf *out)
{
    const struct unit *const unit = unit_of(input, trend);
    char label[2 * LABEL_BYTES + 4];
    const char *const id = unit_suite_id(&input->evidence->plan, unit);

    report_cell_label(&input->evidence->facts, unit, trend->cell, label);
    lines_format(out, columns, 2,
        "%s%s%s%s%s%s%s %s%s%s: %+.1f %% (%+.1f to %+.1f) over %u rounds",
        before, unit->testcase, id == NULL ? "" : " (", id == NULL ? "" : id,
        id == NULL ? "" : ")", unit->sweep == NULL ? "" : " ",
        unit->sweep == NULL ? "" : unit->sweep, metric_of(unit, trend),
        label[0] == '\0' ? "" : " ", label, trend->change * 100.0,
        trend->low * 100.0, trend->high * 100.0, trend->rounds);
}

void report_trends_add(
    const struct report_input *input, uint32_t columns, struct strbuf *out)
{
    const struct verdicts *const verdicts = input->verdicts;
    const struct trend *worst = verdicts->trends;
    uint32_t falls = 0;

    if (verdicts->trends_count == 0) {
        return;
    }
    strbuf_add(out, "\nTrend from the first round to the last\n");
    for (uint32_t i = 0; i < verdicts->trends_count; i++) {
        const struct trend *const trend = &verdicts->trends[i];

        if (trend->change < worst->change) {
            worst = trend;
        }
        if (trend->is_fall && falls++ < FALLS_LISTED) {
            add_fall(input, columns, trend, "falls: ", out);
        }
    }
    lines_format(out, columns, 2, "%u of %u cells fall%s", falls,
        verdicts->trends_count,
        falls > FALLS_LISTED ? "; the report in JSON lists all" : "");
    if (falls == 0) {
        add_fall(input, columns, worst, "least good: ", out);
    }
}

/* ---- JSON ---- */

static json_t *trend_json(
    const struct report_input *input, const struct trend *trend)
{
    const struct unit *const unit = unit_of(input, trend);
    struct cell_place place = { 0 };

    unit_cell_at(unit, trend->cell, &place);
    return json_pack("{s:o, s:o, s:o, s:o, s:i, s:i, s:i, s:o, s:o, s:o, s:o, "
                     "s:o, s:b}",
        "plugin", text_to_json(unit->plugin), "testcase",
        text_to_json(unit->testcase), "sweep", text_to_json(unit->sweep),
        "metric", text_to_json(metric_of(unit, trend)), "row", (int)place.row,
        "col", (int)place.col, "rounds", (int)trend->rounds, "first",
        real_to_json(trend->first), "change", real_to_json(trend->change),
        "change_low", real_to_json(trend->low), "change_high",
        real_to_json(trend->high), "reach", real_to_json(trend->reach), "falls",
        (int)trend->is_fall);
}

json_t *report_trends_json(const struct report_input *input)
{
    json_t *const list = json_array();

    for (uint32_t i = 0; i < input->verdicts->trends_count; i++) {
        json_array_append_new(
            list, trend_json(input, &input->verdicts->trends[i]));
    }
    return list;
}
