/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The JSON report: configs/schema/report.schema.json describes it. */
#include "report_formats.h"

#include <math.h>
#include <string.h>

#include "record_json.h"
#include "report_matrix.h"
#include "report_trends.h"

/* Fifteen digits are what a double holds of a decimal number: 0.95 stays
 * 0.95. */
#define REPORT_DOUBLES JSON_REAL_PRECISION(15)

static json_t *fields(const struct fields *of, const void *object)
{
    return fields_to_json(of, object, ABSENT_NULL);
}

/* ---- cells ---- */

static json_t *limit_of(const struct verdict *verdict)
{
    if (isnan(verdict->limit)) {
        return json_null();
    }
    return json_pack("{s:o, s:s, s:o, s:o, s:i, s:o, s:o}", "value",
        real_to_json(verdict->limit), "bound",
        verdict->limit_is_max ? "max" : "min", "text",
        text_to_json(verdict->limit_text), "file",
        text_to_json(verdict->limit_origin.file), "line",
        (int)verdict->limit_origin.line, "base", real_to_json(verdict->base),
        "formula", text_to_json(verdict->base_formula));
}

static json_t *theoretical_of(const struct verdict *verdict)
{
    if (isnan(verdict->theoretical)) {
        return json_null();
    }
    return json_pack("{s:o, s:o}", "value", real_to_json(verdict->theoretical),
        "formula", text_to_json(verdict->theoretical_formula));
}

static json_t *interval_of(const struct stats *stats)
{
    if (isnan(stats->low)) {
        return json_null();
    }
    return json_pack("{s:o, s:o}", "low", real_to_json(stats->low), "high",
        real_to_json(stats->high));
}

static json_t *stats_json(const struct stats *stats)
{
    return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "count",
        (int)stats->count, "median", real_to_json(stats->median), "mean",
        real_to_json(stats->mean), "min", real_to_json(stats->min), "max",
        real_to_json(stats->max), "deviation", real_to_json(stats->deviation),
        "p5", real_to_json(stats->p5), "p95", real_to_json(stats->p95), "drift",
        real_to_json(stats->drift));
}

/* Position in `acceptances`. */
static json_t *accepted_by(
    const struct report_input *input, const struct verdict *verdict)
{
    for (uint32_t i = 0; i < input->verdicts->acceptances_count; i++) {
        if (verdict->accept != NULL &&
            input->verdicts->acceptances[i].entry == verdict->accept) {
            return json_integer(i);
        }
    }
    return json_null();
}

/* What the judge says, laid over the evidence of the cell. */
static json_t *judgement_of(const struct report_input *input,
    const struct unit *unit, const struct verdict *verdict)
{
    char row[LABEL_BYTES];
    char col[LABEL_BYTES];
    struct cell_place place = { 0 };
    const struct facts *const facts = &input->evidence->facts;

    unit_cell_at(unit, verdict->cell, &place);
    report_label(facts, unit, &unit->shapes[place.shape], 0, verdict->row, row);
    report_label(facts, unit, &unit->shapes[place.shape], 1, verdict->col, col);
    return json_pack("{s:o, s:o, s:i, s:i, s:o, s:o, s:o, s:s, s:o, s:o, s:i, "
                     "s:o, s:o, s:o, s:i, s:i, s:o, s:o, s:o, s:o, s:b, s:o}",
        "metric", text_to_json(verdict->metric), "unit",
        text_to_json(name_of(unit_names, unit->shapes[place.shape].unit)),
        "row", (int)verdict->row, "col", (int)verdict->col, "row_label",
        text_to_json(row[0] == '\0' ? NULL : row), "col_label",
        text_to_json(col[0] == '\0' ? NULL : col), "better",
        text_to_json(name_of(better_names, unit->shapes[place.shape].better)),
        "state", name_of(state_names, verdict->state), "reason",
        text_to_json(verdict->reason), "message",
        text_to_json(verdict->message), "exit_code", (int)verdict->exit_code,
        "figure", real_to_json(verdict->figure), "interval",
        interval_of(&verdict->stats), "stats", stats_json(&verdict->stats),
        "attempts", (int)verdict->attempts, "attempts_passed",
        (int)verdict->passed, "limit", limit_of(verdict), "theoretical",
        theoretical_of(verdict), "utilisation",
        real_to_json(verdict->utilisation), "margin",
        real_to_json(verdict->margin), "accepted", verdict->accept != NULL,
        "accepted_by", accepted_by(input, verdict));
}

static json_t *cell_of(const struct report_input *input,
    const struct unit *unit, const struct verdict *verdict)
{
    json_t *const cell = judgement_of(input, unit, verdict);
    json_t *evidence = NULL;
    struct record none;

    record_init(&none);
    evidence = fields(
        &record_fields, verdict->record == NULL ? &none : verdict->record);
    if (cell == NULL || evidence == NULL ||
        json_object_update_missing(cell, evidence) != 0) {
        json_decref(cell);
        json_decref(evidence);
        return NULL;
    }
    json_decref(evidence);
    return cell;
}

/* ---- units ---- */

static json_t *params_of(const struct unit *unit)
{
    json_t *const params = json_object();

    for (uint32_t i = 0; i < unit->params_count; i++) {
        const struct unit_param *const param = &unit->params[i];
        json_t *const values = json_array();

        for (uint32_t k = 0; k < param->values_count; k++) {
            json_array_append_new(values, text_to_json(param->values[k]));
        }
        json_object_set_new(params, param->name, values);
    }
    return params;
}

static json_t *unit_json(const struct report_input *input,
    const struct unit *unit, const struct verdict *list, uint32_t count)
{
    json_t *const json = fields(&unit_fields, unit);
    json_t *const cells = json_array();

    for (uint32_t i = 0; i < count; i++) {
        if (json_array_append_new(cells, cell_of(input, unit, &list[i])) != 0) {
            json_decref(cells);
            json_decref(json);
            return NULL;
        }
    }
    json_object_set_new(json, "params", params_of(unit));
    json_object_set_new(json, "cells", cells);
    return json;
}

/* ---- the rest ---- */

static json_t *plugins_json(const struct evidence *evidence)
{
    json_t *const plugins = json_array();

    for (uint32_t i = 0; i < evidence->plugins_count; i++) {
        const struct plugin_schema *const plugin = &evidence->plugins[i];

        json_array_append_new(plugins,
            json_pack("{s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:b, s:b}", "name",
                text_to_json(plugin->name), "version",
                text_to_json(plugin->version), "file",
                text_to_json(plugin->file), "sha256",
                text_to_json(plugin->sha256), "state",
                name_of(state_names, plugin->state), "reason",
                text_to_json(plugin->reason), "message",
                text_to_json(plugin->message), "installed",
                (int)plugin->installed, "trusted", (int)plugin->trusted));
    }
    return plugins;
}

/* Which files the limits come from; the rows that were used stand in the
 * formulas. */
static json_t *efficiencies_json(const struct evidence *evidence)
{
    json_t *const files = json_array();

    for (uint32_t i = 0; i < evidence->efficiencies_count; i++) {
        const struct efficiency_file *const file = &evidence->efficiencies[i];

        json_array_append_new(files,
            json_pack("{s:o, s:o, s:o, s:b}", "file", text_to_json(file->file),
                "name", text_to_json(file->name), "sha256",
                text_to_json(file->sha256), "from_plan", (int)file->from_plan));
    }
    return files;
}

static json_t *findings_json(const struct report_input *input)
{
    const struct facts *const facts = &input->evidence->facts;
    json_t *const findings = json_array();

    for (uint32_t i = 0; i < input->verdicts->findings_count; i++) {
        const struct finding *const finding = &input->verdicts->findings[i];
        const int has_gpu =
            finding->gpu >= 0 && (uint32_t)finding->gpu < facts->gpus_count;
        const int has_peer =
            finding->peer >= 0 && (uint32_t)finding->peer < facts->gpus_count;

        json_array_append_new(findings,
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:b}", "id",
                text_to_json(finding->id), "family",
                text_to_json(finding->family), "gpu",
                has_gpu ? json_integer(facts->gpus[finding->gpu].index)
                        : json_null(),
                "peer",
                has_peer ? json_integer(facts->gpus[finding->peer].index)
                         : json_null(),
                "what", text_to_json(finding->what), "action",
                text_to_json(finding->action), "next",
                text_to_json(finding->next), "exit_code",
                (int)finding->exit_code, "accepted", (int)finding->accepted));
    }
    return findings;
}

static json_t *acceptances_json(const struct verdicts *verdicts)
{
    json_t *const list = json_array();

    for (uint32_t i = 0; i < verdicts->acceptances_count; i++) {
        const struct acceptance *const acceptance = &verdicts->acceptances[i];
        const struct plan_accept *const entry = acceptance->entry;

        json_array_append_new(list,
            json_pack(
                "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:i, s:b}",
                "match", text_to_json(entry->match), "device",
                text_to_json(entry->device), "pair", text_to_json(entry->pair),
                "cause", text_to_json(entry->cause), "why",
                text_to_json(entry->why), "until", text_to_json(entry->until),
                "ticket", text_to_json(entry->ticket), "file",
                text_to_json(entry->origin.file), "line",
                (int)entry->origin.line, "cells", (int)acceptance->cells,
                "findings", (int)acceptance->findings, "ended",
                (int)acceptance->ended));
    }
    return list;
}

static json_t *texts_json(const char **list, uint32_t count)
{
    json_t *const texts = json_array();

    for (uint32_t i = 0; i < count; i++) {
        json_array_append_new(texts, text_to_json(list[i]));
    }
    return texts;
}

static json_t *counts_json(const struct verdicts *verdicts)
{
    json_t *const counts = json_object();

    json_object_set_new(counts, "planned", json_integer(verdicts->count));
    for (uint32_t state = STATE_SKIP; state < STATE_COUNT; state++) {
        json_object_set_new(counts, name_of(state_names, state),
            json_integer(verdicts->by_state[state]));
    }
    return counts;
}

static json_t *run_json(const struct report_input *input)
{
    const struct evidence *const evidence = input->evidence;
    json_t *const run = fields(&run_header_fields, &evidence->header);

    json_object_set_new(run, "ended",
        text_to_json(evidence->ended ? evidence->end.ended : NULL));
    json_object_set_new(run, "interrupted",
        json_boolean(evidence->ended && evidence->end.interrupted));
    json_object_set_new(run, "budget_used",
        json_boolean(evidence->ended && evidence->end.budget_used));
    json_object_set_new(run, "complete", json_boolean(evidence->ended));
    json_object_set_new(run, "run_dir", text_to_json(input->run_dir));
    return run;
}

/* Why there was none, and the series that was kept. */
static json_t *telemetry_json(const struct evidence *evidence)
{
    json_t *const readings = json_array();
    const char *trouble = NULL;

    for (uint32_t i = 0; i < evidence->events_count; i++) {
        if (strcmp(evidence->events[i].what, "telemetry") == 0) {
            trouble = evidence->events[i].text;
        }
    }
    for (uint32_t i = 0; i < evidence->readings_count; i++) {
        json_array_append_new(
            readings, fields(&gpu_reading_fields, &evidence->readings[i]));
    }
    return json_pack(
        "{s:o, s:o}", "trouble", text_to_json(trouble), "readings", readings);
}

static json_t *document(const struct report_input *input)
{
    const struct evidence *const evidence = input->evidence;
    const struct verdicts *const verdicts = input->verdicts;

    return json_pack("{s:s, s:i, s:b, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o, "
                     "s:o, s:o, s:o, s:o, s:o}",
        "schema", "nvbw-report", "schema_version", REPORT_SCHEMA_VERSION,
        "simulated", (int)evidence->facts.simulated, "verdict",
        report_exit_words(verdicts)->word, "exit_code",
        (int)verdicts->exit_code, "counts", counts_json(verdicts), "run",
        run_json(input), "findings", findings_json(input), "acceptances",
        acceptances_json(verdicts), "trends", report_trends_json(input),
        "unmatched_limits",
        texts_json(
            verdicts->unmatched_limits, verdicts->unmatched_limits_count),
        "facts", fields(&facts_fields, &evidence->facts), "plugins",
        plugins_json(evidence), "efficiencies", efficiencies_json(evidence),
        "telemetry", telemetry_json(evidence), "plan",
        fields(&plan_fields, &evidence->plan));
}

/* ---- writing ---- */

/* Where a value stands within the document: deeper, its lines are. */
struct nested {
    struct strbuf *out;
    const char *indent;
};

/* In JSON a line ends only between values. */
static int add_to_buffer(const char *bytes, size_t length, void *user)
{
    const struct nested *const nested = user;
    const char *const end = bytes + length;

    while (bytes < end) {
        const char *const line = memchr(bytes, '\n', (size_t)(end - bytes));
        const char *const stop = line == NULL ? end : line + 1;

        strbuf_add_n(nested->out, bytes, (size_t)(stop - bytes));
        if (line != NULL) {
            strbuf_add(nested->out, nested->indent);
        }
        bytes = stop;
    }
    return nested->out->failed ? -1 : 0;
}

static int32_t add_json(
    json_t *json, const char *indent, struct strbuf *out, struct error *err)
{
    struct nested nested = { out, indent };

    FAIL_IF(json == NULL, err, NVBW_E_SYSTEM,
        "the json report cannot be made: no memory, or text that is no UTF-8");

    const int failed = json_dump_callback(
        json, add_to_buffer, &nested, JSON_INDENT(1) | REPORT_DOUBLES);

    json_decref(json);
    FAIL_IF(failed != 0 || out->failed, err, NVBW_E_SYSTEM,
        "no memory for the json report");
    return NVBW_OK;
}

/* One at a time, as a tree is ten times as large as its text. */
static int32_t add_units(
    const struct report_input *input, struct strbuf *out, struct error *err)
{
    const struct verdicts *const verdicts = input->verdicts;
    uint32_t done = 0;

    for (uint32_t i = 0; i < input->evidence->units_count; i++) {
        uint32_t count = 0;

        while (done + count < verdicts->count &&
               verdicts->list[done + count].unit == i) {
            count++;
        }
        strbuf_add(out, i == 0 ? "\n  " : ",\n  ");
        TRY(add_json(unit_json(input, &input->evidence->units[i],
                         verdicts->list + done, count),
            "  ", out, err));
        done += count;
    }
    strbuf_add(out, input->evidence->units_count > 0 ? "\n " : "");
    return NVBW_OK;
}

/* The document's last member is written into its text. */
int32_t report_json(
    const struct report_input *input, struct strbuf *out, struct error *err)
{
    static const char end[] = "\n}";

    TRY(add_json(document(input), "", out, err));
    out->length -= sizeof end - 1;
    strbuf_add(out, ",\n \"units\": [");
    TRY(add_units(input, out, err));
    strbuf_add(out, "]\n}\n");
    return NVBW_OK;
}
