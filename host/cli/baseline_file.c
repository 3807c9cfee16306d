/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "baseline_file.h"

#include <stdio.h>
#include <string.h>

#include "attempts.h"

static const char COPY_NAME[] = "baseline.ndjson";

int32_t baseline_read(const char *path, struct arena *arena,
    struct evidence *out, struct error *err)
{
    return evidence_open(path, BASELINE_LIMIT_BYTES, arena, out, err);
}

/* ---- writing ---- */

struct writer {
    const struct evidence *evidence;
    struct strbuf *out;
    struct error *err;
    uint32_t cells, left;
};

int baseline_is_sound(const struct verdict *verdict)
{
    return verdict->state == STATE_PASS || verdict->state == STATE_WARN ||
           verdict->state == STATE_UNCHECKED || verdict->accept != NULL;
}

static int32_t add_cell(struct writer *writer, const struct unit *unit,
    const struct cell_place *place, const struct verdict *verdict)
{
    struct attempts attempts;

    attempts_of_cell(writer->evidence, unit->id,
        unit->shapes[place->shape].metric, place->row, place->col, &attempts);
    if (attempts.count == 0 || attempts.counting->state != STATE_MEASURED ||
        (verdict != NULL && !baseline_is_sound(verdict))) {
        writer->left++;
        return NVBW_OK;
    }
    writer->cells++;
    for (uint32_t i = attempts.count; i > 0; i--) {
        TRY(line_format(
            writer->out, LINE_CELL, attempts.records[i - 1], writer->err));
    }
    return NVBW_OK;
}

int32_t baseline_format_head(
    const struct evidence *evidence, struct strbuf *out, struct error *err)
{
    TRY(line_format(out, LINE_RUN, &evidence->header, err));
    TRY(line_format(out, LINE_PLAN, &evidence->plan, err));
    TRY(line_format(out, LINE_FACTS, &evidence->facts, err));
    for (uint32_t i = 0; i < evidence->units_count; i++) {
        TRY(line_format(out, LINE_UNIT, &evidence->units[i], err));
    }
    return NVBW_OK;
}

/* Verdicts stand in order of units and cells. */
static int32_t add_cells(struct writer *writer, const struct verdicts *verdicts)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < writer->evidence->units_count; i++) {
        const struct unit *const unit = &writer->evidence->units[i];
        const uint32_t span = unit_cell_span(unit);
        struct cell_place place = { 0 };

        for (uint32_t number = 0; number < span; number++) {
            if (unit_cell_at(unit, number, &place)) {
                TRY(add_cell(writer, unit, &place,
                    verdicts == NULL ? NULL : &verdicts->list[next]));
                next++;
            }
        }
    }
    return NVBW_OK;
}

int32_t baseline_format(const struct evidence *evidence,
    const struct verdicts *verdicts, struct strbuf *out, uint32_t *out_cells,
    uint32_t *out_left, struct error *err)
{
    struct writer writer = { .evidence = evidence, .out = out, .err = err };

    TRY(baseline_format_head(evidence, out, err));
    TRY(add_cells(&writer, verdicts));
    if (evidence->ended) {
        TRY(line_format(out, LINE_END, &evidence->end, err));
    }
    *out_cells = writer.cells;
    *out_left = writer.left;
    return NVBW_OK;
}

int32_t baseline_keep(const struct evidence *evidence,
    const struct run_dir *dir, struct arena *arena, struct error *err)
{
    const char *const file = arena_format(arena, "%s/%s", dir->path, COPY_NAME);
    struct strbuf text;
    uint32_t cells = 0;
    uint32_t left = 0;

    if (evidence->baseline == NULL) {
        return NVBW_OK;
    }
    FAIL_IF(file == NULL, err, NVBW_E_SYSTEM, "out of memory");
    strbuf_init(&text, BASELINE_LIMIT_BYTES);

    int32_t status =
        baseline_format(evidence->baseline, NULL, &text, &cells, &left, err);

    if (status >= 0) {
        status = file_write_atomic(file, text.text, text.length, err);
    }
    strbuf_free(&text);
    return status;
}

/* ---- a kept run's ---- */

int32_t baseline_fetch(const char *run_dir, struct evidence *evidence,
    struct arena *arena, struct error *err)
{
    struct evidence *const baseline = arena_alloc(arena, 1, sizeof *baseline);
    const char *const file = arena_format(arena, "%s/%s", run_dir, COPY_NAME);
    struct error why = { 0 };

    if (plan_option(&evidence->plan, "baseline") == NULL) {
        return NVBW_OK;
    }
    FAIL_IF(
        baseline == NULL || file == NULL, err, NVBW_E_SYSTEM, "out of memory");
    FAIL_IF(baseline_read(file, arena, baseline, &why) < 0, err, why.status,
        "the baseline that the run was judged by: %.900s", why.text);
    evidence->baseline = baseline;
    return NVBW_OK;
}
