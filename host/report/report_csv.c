/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* CSV as of RFC 4180: a row per cell and metric, figures in the base unit that
 * the column `unit` names. Columns are added at the end and never renamed or
 * moved; docs/reports.md lists them. */
#include "report_formats.h"

#include <math.h>

#include "report_cell.h"
#include "report_escape.h"
#include "traffic_class.h"

struct csv_row {
    const struct report_input *input;
    const struct report_cell *cell;
    struct strbuf *out;
};

struct csv_column {
    const char *name;
    void (*add)(const struct csv_row *row);
};

#define TEXT_COLUMN(name, expression)                                          \
    static void add_##name(const struct csv_row *row)                          \
    {                                                                          \
        escape_csv(row->out, (expression));                                    \
    }
#define REAL_COLUMN(name, expression)                                          \
    static void add_##name(const struct csv_row *row)                          \
    {                                                                          \
        add_real(row->out, (expression));                                      \
    }
#define WHOLE_COLUMN(name, expression)                                         \
    static void add_##name(const struct csv_row *row)                          \
    {                                                                          \
        strbuf_format(row->out, "%u", (unsigned)(expression));                 \
    }

/* An absent number is an empty field. */
static void add_real(struct strbuf *out, double value)
{
    if (isfinite(value)) {
        strbuf_format(out, "%.15g", value);
    }
}

static const char *direction_of(const struct csv_row *row)
{
    const struct record *const record = row->cell->verdict->record;

    return record == NULL
               ? NULL
               : traffic_direction(&row->input->evidence->facts, record);
}

static const char *initiator_of(const struct csv_row *row)
{
    const struct flow_record *const flow = report_cell_flow(row->cell);

    return flow == NULL ? NULL : name_of(initiator_names, flow->initiator);
}

TEXT_COLUMN(run_id, row->input->evidence->header.run_id)
TEXT_COLUMN(started, row->input->evidence->header.started)
TEXT_COLUMN(host, row->input->evidence->facts.host)
WHOLE_COLUMN(simulated, row->input->evidence->facts.simulated)
TEXT_COLUMN(suite, row->cell->suite)
TEXT_COLUMN(plugin, row->cell->unit->plugin)
TEXT_COLUMN(testcase, row->cell->unit->testcase)
TEXT_COLUMN(sweep, row->cell->unit->sweep)
WHOLE_COLUMN(round, row->cell->unit->round)
TEXT_COLUMN(metric, row->cell->verdict->metric)
WHOLE_COLUMN(row_number, row->cell->verdict->row)
WHOLE_COLUMN(col_number, row->cell->verdict->col)
TEXT_COLUMN(row_label, row->cell->row)
TEXT_COLUMN(col_label, row->cell->col)
TEXT_COLUMN(direction, direction_of(row))
TEXT_COLUMN(initiator, initiator_of(row))
TEXT_COLUMN(unit, name_of(unit_names, row->cell->shape->unit))
TEXT_COLUMN(better, name_of(better_names, row->cell->shape->better))
TEXT_COLUMN(state, name_of(state_names, row->cell->verdict->state))
TEXT_COLUMN(reason, row->cell->verdict->reason)
WHOLE_COLUMN(accepted, row->cell->verdict->accept != NULL)
WHOLE_COLUMN(exit_code, row->cell->verdict->exit_code)
REAL_COLUMN(figure, row->cell->verdict->figure)
REAL_COLUMN(interval_low, row->cell->verdict->stats.low)
REAL_COLUMN(interval_high, row->cell->verdict->stats.high)
WHOLE_COLUMN(samples, row->cell->verdict->stats.count)
REAL_COLUMN(min, row->cell->verdict->stats.min)
REAL_COLUMN(max, row->cell->verdict->stats.max)
REAL_COLUMN(mean, row->cell->verdict->stats.mean)
REAL_COLUMN(deviation, row->cell->verdict->stats.deviation)
WHOLE_COLUMN(attempts, row->cell->verdict->attempts)
WHOLE_COLUMN(attempts_passed, row->cell->verdict->passed)
REAL_COLUMN(limit, row->cell->verdict->limit)
TEXT_COLUMN(limit_text, row->cell->verdict->limit_text)
REAL_COLUMN(theoretical, row->cell->verdict->theoretical)
REAL_COLUMN(utilisation, row->cell->verdict->utilisation)
REAL_COLUMN(margin, row->cell->verdict->margin)
TEXT_COLUMN(message, row->cell->verdict->message)

static void add_bound(const struct csv_row *row)
{
    if (!isnan(row->cell->verdict->limit)) {
        strbuf_add(row->out, row->cell->verdict->limit_is_max ? "max" : "min");
    }
}

static void add_end(const struct csv_row *row, int is_source)
{
    const struct flow_record *const flow = report_cell_flow(row->cell);
    char text[LABEL_BYTES] = "";

    if (flow != NULL) {
        report_flow_end(&row->input->evidence->facts,
            is_source ? flow->src_memory : flow->dst_memory,
            is_source ? flow->src_place : flow->dst_place, text);
    }
    escape_csv(row->out, text);
}

static void add_source(const struct csv_row *row)
{
    add_end(row, 1);
}

static void add_destination(const struct csv_row *row)
{
    add_end(row, 0);
}

/* Of the attempt that counts, separated by blanks. */
static void add_flags(const struct csv_row *row)
{
    const struct record *const record = row->cell->verdict->record;
    struct strbuf flags;

    strbuf_init(&flags, 4096);
    for (uint32_t i = 0; record != NULL && i < record->flags_count; i++) {
        strbuf_add(&flags, i == 0 ? "" : " ");
        strbuf_add(&flags, record->flags[i]);
    }
    escape_csv(row->out, flags.text);
    strbuf_free(&flags);
}

static const struct csv_column columns[] = {
    { "run_id", add_run_id },
    { "started", add_started },
    { "host", add_host },
    { "simulated", add_simulated },
    { "suite", add_suite },
    { "plugin", add_plugin },
    { "testcase", add_testcase },
    { "sweep", add_sweep },
    { "round", add_round },
    { "metric", add_metric },
    { "row", add_row_number },
    { "col", add_col_number },
    { "row_label", add_row_label },
    { "col_label", add_col_label },
    { "source", add_source },
    { "destination", add_destination },
    { "direction", add_direction },
    { "initiator", add_initiator },
    { "unit", add_unit },
    { "better", add_better },
    { "state", add_state },
    { "reason", add_reason },
    { "accepted", add_accepted },
    { "exit_code", add_exit_code },
    { "figure", add_figure },
    { "interval_low", add_interval_low },
    { "interval_high", add_interval_high },
    { "samples", add_samples },
    { "min", add_min },
    { "max", add_max },
    { "mean", add_mean },
    { "deviation", add_deviation },
    { "attempts", add_attempts },
    { "attempts_passed", add_attempts_passed },
    { "limit", add_limit },
    { "limit_bound", add_bound },
    { "limit_text", add_limit_text },
    { "theoretical", add_theoretical },
    { "utilisation", add_utilisation },
    { "margin", add_margin },
    { "flags", add_flags },
    { "message", add_message },
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

int32_t report_csv(
    const struct report_input *input, struct strbuf *out, struct error *err)
{
    (void)err;
    for (size_t i = 0; i < COLUMNS; i++) {
        strbuf_format(out, "%s%s", i == 0 ? "" : ",", columns[i].name);
    }
    strbuf_add(out, "\r\n");
    for (uint32_t k = 0; k < input->verdicts->count; k++) {
        struct report_cell cell;
        const struct csv_row row = { input, &cell, out };

        report_cell_of(input, k, &cell);
        for (size_t i = 0; i < COLUMNS; i++) {
            strbuf_add(out, i == 0 ? "" : ",");
            columns[i].add(&row);
        }
        strbuf_add(out, "\r\n");
    }
    return NVBW_OK;
}
