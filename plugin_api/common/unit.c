/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "unit.h"

#include <string.h>

#include "state.h"

static const struct field unit_param_list[] = {
    FIELD(unit_param, WORD, name),
    FIELD_LIST(unit_param, TEXTS, values),
    FIELD_END,
};
const struct fields unit_param_fields = FIELDS(unit_param, unit_param_list);

static const struct field shape_list[] = {
    FIELD(unit_shape, WORD, metric),
    FIELD_NAMED(unit_shape, unit, unit_names),
    FIELD_NAMED(unit_shape, better, better_names),
    FIELD(unit_shape, U32, rows),
    FIELD(unit_shape, U32, cols),
    FIELD(unit_shape, U32, pairs),
    FIELD(unit_shape, U32, derived),
    FIELD(unit_shape, TEXT, row_axis),
    FIELD(unit_shape, TEXT, col_axis),
    FIELD_LIST(unit_shape, TEXTS, row_labels),
    FIELD_LIST(unit_shape, TEXTS, col_labels),
    FIELD_END,
};
static const struct fields shape_fields = FIELDS(unit_shape, shape_list);

static const struct field unit_list[] = {
    FIELD(unit, U32, id),
    FIELD(unit, U32, suite),
    FIELD(unit, WORD, plugin),
    FIELD(unit, TEXT, plugin_file),
    FIELD(unit, WORD, testcase),
    FIELD(unit, TEXT, sweep),
    FIELD(unit, U32, round),
    FIELD_STRUCTS(unit, params, &unit_param_fields),
    FIELD_LIST(unit, U32S, gpus),
    FIELD_LIST(unit, U32S, nodes),
    FIELD_STRUCTS(unit, shapes, &shape_fields),
    FIELD(unit, U32, open_axes),
    FIELD(unit, U64, timeout_ns),
    FIELD(unit, WORD, required),
    FIELD(unit, U32, confirm),
    FIELD(unit, TEXT, pass_rule),
    FIELD(unit, WORD, isolate),
    FIELD_NAMED(unit, state, state_names),
    FIELD(unit, TEXT, reason),
    FIELD(unit, TEXT, message),
    FIELD_END,
};
const struct fields unit_fields = FIELDS(unit, unit_list);

uint32_t unit_cell_span(const struct unit *unit)
{
    uint32_t span = 0;

    for (uint32_t i = 0; i < unit->shapes_count; i++) {
        span += unit->shapes[i].rows * unit->shapes[i].cols;
    }
    return span;
}

static uint32_t diagonal(const struct unit_shape *shape)
{
    if (!shape->pairs) {
        return 0;
    }
    return shape->rows < shape->cols ? shape->rows : shape->cols;
}

uint32_t unit_cell_count(const struct unit *unit)
{
    uint32_t count = unit_cell_span(unit);

    for (uint32_t i = 0; i < unit->shapes_count; i++) {
        count -= diagonal(&unit->shapes[i]);
    }
    return count;
}

int unit_cell_at(
    const struct unit *unit, uint32_t number, struct cell_place *out_place)
{
    for (uint32_t i = 0; i < unit->shapes_count; i++) {
        const struct unit_shape *const shape = &unit->shapes[i];
        const uint32_t span = shape->rows * shape->cols;

        if (number < span) {
            *out_place = (struct cell_place){ i, number / shape->cols,
                number % shape->cols };
            return !shape->pairs || out_place->row != out_place->col;
        }
        number -= span;
    }
    return 0;
}

int32_t unit_cell_number(
    const struct unit *unit, const char *metric, uint32_t row, uint32_t col)
{
    uint32_t first = 0;

    for (uint32_t i = 0; i < unit->shapes_count; i++) {
        const struct unit_shape *const shape = &unit->shapes[i];

        if (strcmp(shape->metric, metric) == 0) {
            if (row >= shape->rows || col >= shape->cols ||
                (shape->pairs && row == col)) {
                return -1;
            }
            return (int32_t)(first + row * shape->cols + col);
        }
        first += shape->rows * shape->cols;
    }
    return -1;
}

const struct unit_param *unit_param(const struct unit *unit, const char *name)
{
    for (uint32_t i = 0; i < unit->params_count; i++) {
        if (strcmp(unit->params[i].name, name) == 0) {
            return &unit->params[i];
        }
    }
    return NULL;
}

char *unit_title(const struct unit *unit, struct arena *arena)
{
    if (unit->sweep == NULL) {
        return arena_format(arena, "%s/%s", unit->plugin, unit->testcase);
    }
    return arena_format(
        arena, "%s/%s[%s]", unit->plugin, unit->testcase, unit->sweep);
}
