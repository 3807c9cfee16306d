/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "report_matrix.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report_lines.h"
#include "text_clean.h"

enum { SHOWN_LIMIT = 32, ROW_LIMIT = 144, CELL_WIDTH = 10, LABEL_WIDTH = 10 };

/* ---- labels ---- */

static void label_place(const struct facts *facts, const struct unit *unit,
    const char *axis, uint32_t at, char out[LABEL_BYTES])
{
    if (strcmp(axis, "gpu") == 0 && at < unit->gpus_count &&
        unit->gpus[at] < facts->gpus_count) {
        snprintf(out, LABEL_BYTES, "GPU %d", facts->gpus[unit->gpus[at]].index);
    } else if (strcmp(axis, "numa") == 0 && at < unit->nodes_count &&
               unit->nodes[at] < facts->nodes_count) {
        snprintf(
            out, LABEL_BYTES, "node %d", facts->nodes[unit->nodes[at]].number);
    } else {
        snprintf(out, LABEL_BYTES, "%.40s %u", axis, at);
    }
}

static int is_rank(const char *axis)
{
    return axis != NULL && strcmp(axis, "rank") == 0;
}

/* Ranks are told from what is counted beside them. */
static const char *axis_mark(const struct unit_shape *shape, const char *axis)
{
    return is_rank(axis)                                ? "rank "
           : axis[0] == '#' && is_rank(shape->row_axis) ? "#"
                                                        : "";
}

void report_label(const struct facts *facts, const struct unit *unit,
    const struct unit_shape *shape, int is_col, uint32_t at,
    char out[LABEL_BYTES])
{
    const char *const axis = is_col ? shape->col_axis : shape->row_axis;
    const char *const *const labels =
        (const char *const *)(is_col ? shape->col_labels : shape->row_labels);
    const uint32_t count =
        is_col ? shape->col_labels_count : shape->row_labels_count;
    const struct unit_param *const param =
        axis == NULL ? NULL : unit_param(unit, axis);

    out[0] = '\0';
    if (axis == NULL) {
        return;
    }
    if (strcmp(axis, "gpu") == 0 || strcmp(axis, "numa") == 0) {
        label_place(facts, unit, axis, at, out);
    } else if (at < count && labels[at] != NULL) {
        snprintf(out, LABEL_BYTES, "%s%s", axis_mark(shape, axis), labels[at]);
    } else if (param != NULL && at < param->values_count) {
        snprintf(out, LABEL_BYTES, "%s", param->values[at]);
    } else {
        label_place(facts, unit, axis, at, out);
    }
    text_clean(out, 0);
}

void report_cell_label(const struct facts *facts, const struct unit *unit,
    uint32_t cell, char out[2 * LABEL_BYTES + 4])
{
    struct cell_place place = { 0 };
    char row[LABEL_BYTES];
    char col[LABEL_BYTES];

    out[0] = '\0';
    if (!unit_cell_at(unit, cell, &place)) {
        return;
    }
    report_label(facts, unit, &unit->shapes[place.shape], 0, place.row, row);
    report_label(facts, unit, &unit->shapes[place.shape], 1, place.col, col);
    snprintf(out, 2 * LABEL_BYTES + 4, "%s%s%s", row,
        row[0] != '\0' && col[0] != '\0' ? " > " : "", col);
}

/* Whose memory a rank acts on, or that acts on its own: the end of the counted
 * flow that is not the rank's; -1: unknown. */
static int32_t partner_of(const struct record *record)
{
    for (uint32_t i = 0; record != NULL && i < record->flows_count; i++) {
        const struct flow_record *const flow = &record->flows[i];

        if (flow->counted) {
            return flow->src_place == flow->executor ? flow->dst_place
                                                     : flow->src_place;
        }
    }
    return -1;
}

void report_verdict_label(const struct facts *facts, const struct unit *unit,
    const struct verdict *verdict, char out[2 * LABEL_BYTES + 4])
{
    const size_t size = 2 * LABEL_BYTES + 4;
    const int32_t partner = partner_of(verdict->record);
    struct cell_place place = { 0 };

    report_cell_label(facts, unit, verdict->cell, out);
    if (facts->ranks == 0 || !unit_cell_at(unit, verdict->cell, &place)) {
        return;
    }

    const struct unit_shape *const shape = &unit->shapes[place.shape];

    if (is_rank(shape->row_axis) && shape->col_axis != NULL &&
        shape->col_axis[0] == '#' && partner >= 0 &&
        (uint32_t)partner < facts->gpus_count) {
        const size_t length = strlen(out);

        snprintf(out + length, size - length, " (with rank %d)",
            facts->gpus[partner].index);
    }
}

/* ---- scales ---- */

const struct report_scale *report_scale_of(uint32_t unit)
{
    static const struct report_scale scales[] = {
        { NVBW_UNIT_BYTES_PER_SECOND, "GB/s", 1e9, 2 },
        { NVBW_UNIT_NANOSECONDS, "ns", 1.0, 1 },
        { NVBW_UNIT_BYTES, "bytes", 1.0, 0 },
        { NVBW_UNIT_RATIO, "%", 0.01, 2 },
        { NVBW_UNIT_COUNT, "count", 1.0, 0 },
        { NVBW_UNIT_NONE, "", 1.0, 3 },
    };
    const struct report_scale *scale = scales;

    while (scale->unit != unit && scale->unit != NVBW_UNIT_NONE) {
        scale++;
    }
    return scale;
}

/* ---- one metric ---- */

const struct verdict *report_shape_at(
    const struct report_shape *of, uint32_t row, uint32_t col)
{
    uint32_t number = row * of->shape->cols + col;

    if (of->shape->pairs) {
        const uint32_t diagonals = row + (col > row ? 1 : 0);

        if (row == col) {
            return NULL;
        }
        number -= diagonals < of->shape->cols ? diagonals : of->shape->cols;
    }
    return number < of->count ? &of->list[number] : NULL;
}

const struct verdict *report_shape_worst(const struct report_shape *of)
{
    const int is_lower = of->shape->better == NVBW_LOWER;
    const struct verdict *worst = NULL;

    for (uint32_t i = 0; i < of->count; i++) {
        const struct verdict *const verdict = &of->list[i];
        const double gain = isnan(verdict->margin) ? 0.0 : verdict->margin;
        const double than =
            worst == NULL || isnan(worst->margin) ? 0.0 : worst->margin;
        const int is_worse =
            worst == NULL || gain < than ||
            (gain == than && (is_lower ? verdict->figure > worst->figure
                                       : verdict->figure < worst->figure));

        if (!isnan(verdict->figure) && is_worse) {
            worst = verdict;
        }
    }
    return worst;
}

/* ---- the matrix ---- */

static const char *mark_of(uint32_t state)
{
    return state == STATE_FAIL      ? "!"
           : state == STATE_INVALID ? "?"
           : state == STATE_WARN    ? "~"
                                    : " ";
}

static const char *paint_of(uint32_t state)
{
    return state == STATE_FAIL                             ? PAINT_BAD
           : state == STATE_INVALID || state == STATE_WARN ? PAINT_ODD
                                                           : NULL;
}

static void add_cell(const struct report_input *input,
    const struct report_scale *scale, const struct verdict *verdict,
    struct strbuf *out)
{
    const char *const paint = verdict == NULL ? NULL : paint_of(verdict->state);

    lines_paint(out, input, paint == NULL ? "" : paint);
    if (verdict == NULL) {
        strbuf_format(out, "%*s ", CELL_WIDTH - 1, "");
    } else if (isnan(verdict->figure)) {
        strbuf_format(
            out, "%*s ", CELL_WIDTH - 1, name_of(state_names, verdict->state));
    } else {
        strbuf_format(out, "%*.*f%s", CELL_WIDTH - 1, scale->decimals,
            verdict->figure / scale->divisor, mark_of(verdict->state));
    }
    lines_paint(out, input, paint == NULL ? "" : PAINT_END);
}

/* Blanks at the end of a line are of no use in a file. */
static void end_line(struct strbuf *out)
{
    while (out->length > 0 && out->text[out->length - 1] == ' ') {
        out->text[--out->length] = '\0';
    }
    strbuf_add(out, "\n");
}

/* As many characters of a label as fit, filled up with blanks. */
static void add_name(
    struct strbuf *out, const char *label, uint32_t width, int is_right)
{
    const size_t bytes = text_fit(label, width);
    const size_t all = text_width(label);
    const size_t blanks = all < width ? width - all : 0;

    strbuf_add_repeat(out, ' ', is_right ? blanks : 0);
    strbuf_add_n(out, label, bytes);
    strbuf_add_repeat(out, ' ', is_right ? 0 : blanks);
}

/* A matrix of one column reads better as a row. */
struct orientation {
    uint32_t rows, cols;
    int is_turned;
};

static void add_block(const struct report_input *input,
    const struct report_shape *of, const struct orientation *as, uint32_t first,
    uint32_t end, struct strbuf *out)
{
    const struct facts *const facts = &input->evidence->facts;
    const struct report_scale *const scale = report_scale_of(of->shape->unit);
    char label[LABEL_BYTES];

    strbuf_format(out, "  %-*s", LABEL_WIDTH, "");
    for (uint32_t col = first; col < end; col++) {
        report_label(facts, of->unit, of->shape, !as->is_turned, col, label);
        add_name(out, label, CELL_WIDTH - 1, 1);
        strbuf_add(out, " ");
    }
    end_line(out);
    for (uint32_t row = 0; row < as->rows; row++) {
        report_label(facts, of->unit, of->shape, as->is_turned, row, label);
        strbuf_add(out, "  ");
        add_name(out, label, LABEL_WIDTH, 0);
        for (uint32_t col = first; col < end; col++) {
            add_cell(input, scale,
                as->is_turned ? report_shape_at(of, col, row)
                              : report_shape_at(of, row, col),
                out);
        }
        end_line(out);
    }
}

/* The widest label of the rows; 0 where they have none. */
static uint32_t widest_row(
    const struct report_shape *of, const struct facts *facts)
{
    char label[LABEL_BYTES];
    uint32_t widest = 0;

    for (uint32_t row = 0; row < of->shape->rows; row++) {
        report_label(facts, of->unit, of->shape, 0, row, label);

        const uint32_t width = (uint32_t)text_width(label);

        widest = width > widest ? width : widest;
    }
    return widest;
}

/* A column whose labels are words keeps them whole. */
static void add_column(const struct report_input *input,
    const struct report_shape *of, uint32_t width, struct strbuf *out)
{
    const struct report_scale *const scale = report_scale_of(of->shape->unit);
    char label[LABEL_BYTES];

    for (uint32_t row = 0; row < of->shape->rows; row++) {
        report_label(
            &input->evidence->facts, of->unit, of->shape, 0, row, label);
        strbuf_add(out, "    ");
        add_name(out, label, width, 0);
        add_cell(input, scale, report_shape_at(of, row, 0), out);
        end_line(out);
    }
}

void report_matrix_add(const struct report_input *input,
    const struct report_shape *of, struct strbuf *out)
{
    const int is_turned = of->shape->cols == 1 && of->shape->rows > 1;
    const struct orientation as = {
        .rows = is_turned ? of->shape->cols : of->shape->rows,
        .cols = is_turned ? of->shape->rows : of->shape->cols,
        .is_turned = is_turned,
    };
    const uint32_t columns = input->columns < 40 ? 80 : input->columns;
    const uint32_t fit = (columns - LABEL_WIDTH - 2) / CELL_WIDTH;

    if (as.rows > SHOWN_LIMIT ||
        as.cols > (as.rows == 1 ? ROW_LIMIT : SHOWN_LIMIT)) {
        strbuf_format(out, "  %u x %u cells; the html report draws them\n",
            as.rows, as.cols);
        return;
    }

    const uint32_t widest =
        is_turned ? widest_row(of, &input->evidence->facts) : 0;

    if (widest >= CELL_WIDTH) {
        add_column(input, of, widest, out);
        return;
    }
    for (uint32_t first = 0; first < as.cols; first += fit) {
        const uint32_t end = first + fit < as.cols ? first + fit : as.cols;

        add_block(input, of, &as, first, end, out);
    }
}
