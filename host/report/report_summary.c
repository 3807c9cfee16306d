/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* summary.ndjson: what the journal says, one record and one verdict per cell.
 * evidence_read reads it like a journal; lines of type "verdict" are for those
 * who do not judge themselves. The second line is the run in short. */
#include "report_formats.h"

#include <stdlib.h>

#include "record_json.h"
#include "report_node.h"

static const size_t NODE_ARENA_BYTES = (size_t)1 << 29;

static int32_t add_node(
    const struct report_input *input, struct strbuf *out, struct error *err)
{
    struct arena arena;
    struct node node;

    arena_init(&arena, NODE_ARENA_BYTES);

    int32_t status =
        report_node(input->evidence, input->verdicts, &arena, &node, err);

    if (status >= 0) {
        status = node_format(&node, out, err);
    }
    arena_clear(&arena);
    return status;
}

static int32_t add_evidence(
    const struct evidence *evidence, struct strbuf *out, struct error *err)
{
    TRY(line_format(out, LINE_PLAN, &evidence->plan, err));
    TRY(line_format(out, LINE_FACTS, &evidence->facts, err));
    for (uint32_t i = 0; i < evidence->efficiencies_count; i++) {
        TRY(line_format(out, LINE_EFFICIENCY, &evidence->efficiencies[i], err));
    }
    for (uint32_t i = 0; i < evidence->plugins_count; i++) {
        TRY(line_format(out, LINE_PLUGIN, &evidence->plugins[i], err));
    }
    for (uint32_t i = 0; i < evidence->units_count; i++) {
        TRY(line_format(out, LINE_UNIT, &evidence->units[i], err));
    }
    return NVBW_OK;
}

static int32_t add_verdict(
    const struct verdict *verdict, struct strbuf *out, struct error *err)
{
    json_t *const line = json_pack("{s:s, s:{s:i, s:o, s:i, s:i, s:s, s:o, "
                                   "s:o, s:i, s:b, s:o, s:o, s:o, s:o}}",
        "type", "verdict", "data", "unit", (int)verdict->unit, "metric",
        text_to_json(verdict->metric), "row", (int)verdict->row, "col",
        (int)verdict->col, "state", name_of(state_names, verdict->state),
        "reason", text_to_json(verdict->reason), "message",
        text_to_json(verdict->message), "exit_code", (int)verdict->exit_code,
        "accepted", verdict->accept != NULL, "figure",
        real_to_json(verdict->figure), "limit", real_to_json(verdict->limit),
        "limit_text", text_to_json(verdict->limit_text), "utilisation",
        real_to_json(verdict->utilisation));
    char *const bytes =
        line == NULL ? NULL : json_dumps(line, JSON_COMPACT | JSON_DOUBLES);

    json_decref(line);
    FAIL_IF(bytes == NULL, err, NVBW_E_SYSTEM,
        "a verdict cannot be written: no memory, or text that is no UTF-8");
    strbuf_format(out, "%s\n", bytes);
    free(bytes);
    return NVBW_OK;
}

int32_t report_summary(
    const struct report_input *input, struct strbuf *out, struct error *err)
{
    TRY(line_format(out, LINE_RUN, &input->evidence->header, err));
    TRY(add_node(input, out, err));
    TRY(add_evidence(input->evidence, out, err));
    for (uint32_t i = 0; i < input->verdicts->count; i++) {
        const struct verdict *const verdict = &input->verdicts->list[i];

        if (verdict->record != NULL) {
            TRY(line_format(out, LINE_CELL, verdict->record, err));
        }
        TRY(add_verdict(verdict, out, err));
    }
    if (input->evidence->ended) {
        TRY(line_format(out, LINE_END, &input->evidence->end, err));
    }
    return NVBW_OK;
}
