/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "shape.h"

#include <string.h>

#include "quantity.h"
#include "state.h"

/* What the axes of a unit are read from. */
struct source {
    const struct testcase_schema *testcase;
    const struct facts *facts;
    struct arena *arena;
    struct unit *unit;
};

/* The entries of one axis. */
struct axis {
    const char **labels;
    uint32_t labels_count;
    uint32_t entries; /* at least 1 */
};

static int32_t no_memory(struct error *err)
{
    return error_set(err, NVBW_E_SYSTEM, "no memory for the schedule");
}

static int is_text(const char *axis)
{
    return axis != NULL && strcmp(axis, "text") == 0;
}

static int32_t make_axis(
    struct arena *arena, uint32_t count, struct axis *out, struct error *err)
{
    out->labels = arena_alloc(arena, count, sizeof *out->labels);
    out->labels_count = count;
    out->entries = count;
    return out->labels == NULL ? no_memory(err) : NVBW_OK;
}

static int32_t set_number(struct arena *arena, struct axis *axis, uint32_t i,
    int32_t number, struct error *err)
{
    axis->labels[i] = arena_format(arena, "%d", number);
    return axis->labels[i] == NULL ? no_memory(err) : NVBW_OK;
}

/* An axis without entries keeps one, so that its cell can say why. */
static int32_t make_empty(
    const struct source *source, struct axis *out, struct error *err)
{
    TRY(make_axis(source->arena, 1, out, err));
    out->labels[0] = "-";
    return NVBW_OK;
}

/* ---- Kinds of axes ------------------------------------------------------ */

static int32_t axis_of_gpus(
    const struct source *source, struct axis *out, struct error *err)
{
    const struct unit *const unit = source->unit;

    if (unit->gpus_count == 0) {
        return make_empty(source, out, err);
    }
    TRY(make_axis(source->arena, unit->gpus_count, out, err));
    for (uint32_t i = 0; i < unit->gpus_count; i++) {
        TRY(set_number(source->arena, out, i,
            source->facts->gpus[unit->gpus[i]].index, err));
    }
    return NVBW_OK;
}

static int32_t axis_of_nodes(
    const struct source *source, struct axis *out, struct error *err)
{
    const struct unit *const unit = source->unit;

    if (unit->nodes_count == 0) {
        return make_empty(source, out, err);
    }
    TRY(make_axis(source->arena, unit->nodes_count, out, err));
    for (uint32_t i = 0; i < unit->nodes_count; i++) {
        TRY(set_number(source->arena, out, i,
            source->facts->nodes[unit->nodes[i]].number, err));
    }
    return NVBW_OK;
}

static int32_t axis_of_count(const struct source *source, const char *name,
    struct axis *out, struct error *err)
{
    const struct unit_param *const param = unit_param(source->unit, name);
    int64_t count = 0;

    FAIL_IF(param == NULL || param->values_count != 1, err, NVBW_E_INVALID,
        "testcase %s: the axis \"#%s\" is no single parameter",
        source->testcase->name, name);
    TRY(quantity_int(param->values[0], &count, err));
    FAIL_IF(count < 1 || count > SHAPE_AXIS_LIMIT, err, NVBW_E_INVALID,
        "testcase %s: parameter \"%s\" gives an axis %s entries, it must be "
        "from 1 to %d",
        source->testcase->name, name, param->values[0], SHAPE_AXIS_LIMIT);
    TRY(make_axis(source->arena, (uint32_t)count, out, err));
    for (uint32_t i = 0; i < out->entries; i++) {
        TRY(set_number(source->arena, out, i, (int32_t)i, err));
    }
    return NVBW_OK;
}

static int32_t axis_of_list(const struct source *source, const char *name,
    struct axis *out, struct error *err)
{
    const struct unit_param *const param = unit_param(source->unit, name);

    FAIL_IF(param == NULL, err, NVBW_E_INVALID,
        "testcase %s: the axis \"%s\" is no parameter", source->testcase->name,
        name);
    FAIL_IF(param->values_count < 1 || param->values_count > SHAPE_AXIS_LIMIT,
        err, NVBW_E_INVALID,
        "testcase %s: parameter \"%s\" has %u elements, an axis has from 1 to "
        "%d",
        source->testcase->name, name, (unsigned)param->values_count,
        SHAPE_AXIS_LIMIT);
    *out = (struct axis){ param->values, param->values_count,
        param->values_count };
    return NVBW_OK;
}

static int32_t axis_of_ranks(
    const struct source *source, struct axis *out, struct error *err)
{
    const struct unit *const unit = source->unit;

    /* Their GPUs are those of the unit, numbered as they are. */
    if (source->facts->ranks > 0 && unit->gpus_count > 0) {
        return axis_of_gpus(source, out, err);
    }
    TRY(make_axis(source->arena, 1, out, err));
    return set_number(source->arena, out, 0, 0, err);
}

static int32_t build_axis(const struct source *source, const char *name,
    struct axis *out, struct error *err)
{
    *out = (struct axis){ .entries = 1 };
    if (name == NULL) {
        return NVBW_OK;
    }
    if (strcmp(name, "gpu") == 0) {
        return axis_of_gpus(source, out, err);
    }
    if (strcmp(name, "numa") == 0) {
        return axis_of_nodes(source, out, err);
    }
    if (strcmp(name, "rank") == 0) {
        return axis_of_ranks(source, out, err);
    }
    if (is_text(name)) {
        return make_empty(source, out, err);
    }
    return name[0] == '#' ? axis_of_count(source, name + 1, out, err)
                          : axis_of_list(source, name, out, err);
}

/* ---- Shapes ------------------------------------------------------------- */

static int32_t check_span(
    const char *testcase, const struct unit_shape *shape, struct error *err)
{
    FAIL_IF((uint64_t)shape->rows * shape->cols > SHAPE_SPAN_LIMIT, err,
        NVBW_E_INVALID, "testcase %s: metric %s has more than %d cells",
        testcase, shape->metric, SHAPE_SPAN_LIMIT);
    return NVBW_OK;
}

static int32_t build_shape(const struct source *source,
    const struct metric_schema *metric, struct unit_shape *out,
    struct error *err)
{
    struct axis rows;
    struct axis cols;

    TRY(build_axis(source, metric->rows, &rows, err));
    TRY(build_axis(source, metric->cols, &cols, err));
    *out = (struct unit_shape){
        .metric = metric->name,
        .unit = metric->unit,
        .better = metric->better,
        .derived = (metric->flags & NVBW_METRIC_DERIVED) != 0,
        .rows = rows.entries,
        .cols = cols.entries,
        .row_axis = metric->rows,
        .col_axis = metric->cols,
        .row_labels = rows.labels,
        .row_labels_count = rows.labels_count,
        .col_labels = cols.labels,
        .col_labels_count = cols.labels_count,
    };
    /* A pair shape of one has no cell: then its diagonal says why. */
    out->pairs = (metric->flags & NVBW_METRIC_PAIRS) != 0 &&
                 (uint64_t)out->rows * out->cols > 1;
    return check_span(source->testcase->name, out, err);
}

int32_t shape_build(const struct testcase_schema *testcase,
    const struct facts *facts, struct arena *arena, struct unit *unit,
    struct error *err)
{
    const struct source source = { testcase, facts, arena, unit };

    unit->shapes =
        arena_alloc(arena, testcase->metrics_count, sizeof *unit->shapes);
    if (unit->shapes == NULL) {
        return no_memory(err);
    }
    unit->shapes_count = testcase->metrics_count;

    uint64_t span = 0;

    for (uint32_t i = 0; i < testcase->metrics_count; i++) {
        const struct metric_schema *const metric = &testcase->metrics[i];

        TRY(build_shape(&source, metric, &unit->shapes[i], err));
        span += (uint64_t)unit->shapes[i].rows * unit->shapes[i].cols;
        FAIL_IF(span > SHAPE_SPAN_LIMIT, err, NVBW_E_INVALID,
            "testcase %s: its metrics have more than %d cells", testcase->name,
            SHAPE_SPAN_LIMIT);
        if (unit->state == STATE_NONE &&
            (is_text(metric->rows) || is_text(metric->cols))) {
            unit->open_axes = 1;
        }
    }
    return NVBW_OK;
}

/* ---- Text axes ---------------------------------------------------------- */

static const struct labels_frame *find_labels(const struct labels_frame *labels,
    uint32_t count, const char *metric, uint32_t axis)
{
    for (uint32_t i = 0; i < count; i++) {
        if (labels[i].axis == axis && labels[i].metric != NULL &&
            strcmp(labels[i].metric, metric) == 0) {
            return &labels[i];
        }
    }
    return NULL;
}

static int32_t close_axis(const struct unit *unit,
    const struct labels_frame *labels, const char *metric, struct arena *arena,
    struct axis *out, struct error *err)
{
    FAIL_IF(labels == NULL, err, NVBW_E_INVALID,
        "testcase %s: a text axis of metric %s was given no labels",
        unit->testcase, metric);
    FAIL_IF(labels->names_count < 1 || labels->names_count > SHAPE_AXIS_LIMIT,
        err, NVBW_E_INVALID,
        "testcase %s: metric %s was given %u labels, an axis has from 1 to %d",
        unit->testcase, metric, (unsigned)labels->names_count,
        SHAPE_AXIS_LIMIT);
    TRY(make_axis(arena, labels->names_count, out, err));
    for (uint32_t i = 0; i < labels->names_count; i++) {
        out->labels[i] = arena_text(arena, labels->names[i]);
        if (out->labels[i] == NULL) {
            return no_memory(err);
        }
    }
    return NVBW_OK;
}

static int32_t close_shape(const struct unit *unit, struct unit_shape *shape,
    const struct labels_frame *labels, uint32_t labels_count,
    struct arena *arena, struct error *err)
{
    struct axis axis = { 0 };

    if (is_text(shape->row_axis)) {
        TRY(close_axis(unit,
            find_labels(labels, labels_count, shape->metric, 0), shape->metric,
            arena, &axis, err));
        shape->row_labels = axis.labels;
        shape->row_labels_count = axis.labels_count;
        shape->rows = axis.entries;
    }
    if (is_text(shape->col_axis)) {
        TRY(close_axis(unit,
            find_labels(labels, labels_count, shape->metric, 1), shape->metric,
            arena, &axis, err));
        shape->col_labels = axis.labels;
        shape->col_labels_count = axis.labels_count;
        shape->cols = axis.entries;
    }
    return check_span(unit->testcase, shape, err);
}

int32_t shape_close(struct unit *unit, const struct labels_frame *labels,
    uint32_t labels_count, struct arena *arena, struct error *err)
{
    struct unit_shape *const shapes =
        arena_alloc(arena, unit->shapes_count, sizeof *shapes);
    uint64_t span = 0;

    if (shapes == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < unit->shapes_count; i++) {
        shapes[i] = unit->shapes[i];
        TRY(close_shape(unit, &shapes[i], labels, labels_count, arena, err));
        span += (uint64_t)shapes[i].rows * shapes[i].cols;
        FAIL_IF(span > SHAPE_SPAN_LIMIT, err, NVBW_E_INVALID,
            "testcase %s: its metrics have more than %d cells", unit->testcase,
            SHAPE_SPAN_LIMIT);
    }
    unit->shapes = shapes;
    unit->open_axes = 0;
    return NVBW_OK;
}
