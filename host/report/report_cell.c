/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "report_cell.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bounds.h"

static const struct unit_shape nothing = { .rows = 1, .cols = 1 };

void report_cell_of(
    const struct report_input *input, uint32_t number, struct report_cell *out)
{
    const struct evidence *const evidence = input->evidence;
    const struct verdict *const verdict = &input->verdicts->list[number];
    const struct unit *const unit = &evidence->units[verdict->unit];
    struct cell_place place = { 0 };

    *out = (struct report_cell){ .verdict = verdict, .unit = unit };
    out->shape = unit_cell_at(unit, verdict->cell, &place)
                     ? &unit->shapes[place.shape]
                     : &nothing;
    out->suite = unit->suite < evidence->plan.suites_count
                     ? suite_name(&evidence->plan.suites[unit->suite])
                     : unit->plugin;
    report_label(&evidence->facts, unit, out->shape, 0, verdict->row, out->row);
    report_label(&evidence->facts, unit, out->shape, 1, verdict->col, out->col);
    report_verdict_label(&evidence->facts, unit, verdict, out->label);
}

static int is_on_gpu(uint32_t memory)
{
    return memory == NVBW_MEM_DEVICE || memory == NVBW_MEM_VMM ||
           memory == NVBW_MEM_FABRIC || memory == NVBW_MEM_MULTICAST;
}

void report_flow_end(const struct facts *facts, uint32_t memory, int32_t place,
    char out[LABEL_BYTES])
{
    const uint32_t at = (uint32_t)place;

    out[0] = '\0';
    if (memory == NVBW_MEM_NONE || place < 0) {
        return;
    }
    if (is_on_gpu(memory) && at < facts->gpus_count) {
        snprintf(out, LABEL_BYTES, "%s %d", facts->ranks > 0 ? "rank" : "GPU",
            facts->gpus[at].index);
    } else if (!is_on_gpu(memory) && at < facts->nodes_count) {
        snprintf(out, LABEL_BYTES, "node %d", facts->nodes[at].number);
    }
}

const struct flow_record *report_cell_flow(const struct report_cell *cell)
{
    const struct record *const record = cell->verdict->record;

    for (uint32_t i = 0; record != NULL && i < record->flows_count; i++) {
        if (record->flows[i].counted) {
            return &record->flows[i];
        }
    }
    return NULL;
}

void report_figure(uint32_t unit, double value, char *out, size_t size)
{
    const struct report_scale *const scale = report_scale_of(unit);

    snprintf(out, size, "%.*f%s%s", scale->decimals, value / scale->divisor,
        scale->word[0] == '\0' ? "" : " ", scale->word);
}

static void add_limit(const struct report_cell *cell, struct strbuf *out)
{
    const struct verdict *const verdict = cell->verdict;
    const struct origin *const origin = &verdict->limit_origin;
    char limit[64];

    report_figure(cell->shape->unit, verdict->limit, limit, sizeof limit);
    strbuf_format(out, ", %s %s (%s",
        verdict->limit_is_max ? "at most" : "at least", limit,
        verdict->limit_text == NULL ? "" : verdict->limit_text);
    if (origin->file != NULL) {
        strbuf_format(out, ", %s:%u", origin->file, (unsigned)origin->line);
    }
    strbuf_add(out, ")");
}

void report_cell_sentence(const struct report_cell *cell, struct strbuf *out)
{
    const struct verdict *const verdict = cell->verdict;
    char figure[64];

    if (!isnan(verdict->figure)) {
        report_figure(
            cell->shape->unit, verdict->figure, figure, sizeof figure);
        strbuf_add(out, figure);
        if (!isnan(verdict->limit)) {
            add_limit(cell, out);
        }
    }
    if (verdict->message != NULL) {
        strbuf_format(
            out, "%s%s", out->length > 0 ? ": " : "", verdict->message);
    }
}

void report_no_limit(const struct verdict *verdict, struct strbuf *out)
{
    if (verdict->limit_text == NULL) {
        strbuf_add(out, "no limit");
    } else if (verdict->reason != NULL &&
               strcmp(verdict->reason, "cache_bound") == 0) {
        strbuf_format(out, "not held to %s: the cache may have answered",
            verdict->limit_text);
    } else if (strstr(verdict->limit_text, "siblings") != NULL) {
        strbuf_format(out, "not held to %s: fewer than %d of its class",
            verdict->limit_text, SIBLINGS_LEAST);
    } else {
        strbuf_format(out, "not held to %s, which is unknown%s%s",
            verdict->limit_text, verdict->base_trouble == NULL ? "" : ": ",
            verdict->base_trouble == NULL ? "" : verdict->base_trouble);
    }
}

double report_cell_seconds(
    const struct report_input *input, const struct verdict *verdict)
{
    const struct evidence *const evidence = input->evidence;
    const struct record *record = evidence_latest(
        evidence, verdict->unit, verdict->metric, verdict->row, verdict->col);
    double seconds = 0.0;

    while (record != NULL) {
        if (record->end_ns > record->begin_ns) {
            seconds += (double)(record->end_ns - record->begin_ns) * 1e-9;
        }
        record = evidence_before(evidence, record);
    }
    return seconds;
}
