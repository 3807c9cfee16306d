/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "counterpart.h"

#include <stdio.h>
#include <string.h>

static int is_same_text(const char *one, const char *other)
{
    return one == other ||
           (one != NULL && other != NULL && strcmp(one, other) == 0);
}

static const char *or_text(const char *text, const char *other)
{
    return text != NULL ? text : other;
}

/* ---- the machine ---- */

/* A GPU without a UUID is known by its address. */
static int is_same_gpu(
    const struct gpu_facts *one, const struct gpu_facts *other)
{
    return one->uuid != NULL || other->uuid != NULL
               ? is_same_text(one->uuid, other->uuid)
               : is_same_text(one->pci, other->pci) &&
                     is_same_text(one->name, other->name);
}

static uint32_t find_gpu(
    const struct facts *facts, const struct gpu_facts *like)
{
    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        if (is_same_gpu(&facts->gpus[i], like)) {
            return i;
        }
    }
    return UINT32_MAX;
}

int32_t counterpart_machine(
    const struct facts *other, const struct facts *own, struct error *err)
{
    FAIL_IF(other->simulated != own->simulated, err, NVBW_E_INVALID,
        "one is simulated, the other is not");
    FAIL_IF(other->gpus_count != own->gpus_count, err, NVBW_E_INVALID,
        "%s has %u GPUs, %s has %u", or_text(other->host, "that one"),
        other->gpus_count, or_text(own->host, "this one"), own->gpus_count);
    for (uint32_t i = 0; i < own->gpus_count; i++) {
        const struct gpu_facts *const gpu = &own->gpus[i];

        FAIL_IF(find_gpu(other, gpu) == UINT32_MAX, err, NVBW_E_INVALID,
            "%s has no %s %s, which is GPU %d of %s",
            or_text(other->host, "that one"), or_text(gpu->name, "GPU"),
            or_text(gpu->uuid, or_text(gpu->pci, "without a name")), gpu->index,
            or_text(own->host, "this one"));
    }
    return NVBW_OK;
}

/* ---- a unit ---- */

int counterpart_is_same_unit(const struct unit *one, const struct unit *other)
{
    return is_same_text(one->plugin, other->plugin) &&
           is_same_text(one->testcase, other->testcase) &&
           is_same_text(one->sweep, other->sweep);
}

/* Of several rounds the same one, else the last. */
static const struct unit *find_unit(
    const struct evidence *other, const struct unit *unit)
{
    const struct unit *found = NULL;

    for (uint32_t i = 0; i < other->units_count; i++) {
        const struct unit *const at = &other->units[i];

        if (counterpart_is_same_unit(at, unit) &&
            (found == NULL || found->round != unit->round)) {
            found = at;
        }
    }
    return found;
}

/* They change how long or how surely is measured, not what. */
static int is_neutral(const char *param)
{
    static const char *const names[] = { "timeout", "seed", "samples",
        "min_samples", "max_samples", "precision", "precision_contended",
        "verify", "devices" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(param, names[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

static int is_same_param(
    const struct unit_param *one, const struct unit_param *other)
{
    if (other == NULL || one->values_count != other->values_count) {
        return 0;
    }
    for (uint32_t i = 0; i < one->values_count; i++) {
        if (!is_same_text(one->values[i], other->values[i])) {
            return 0;
        }
    }
    return 1;
}

static const char *value_of(const struct unit_param *param)
{
    return param == NULL || param->values_count == 0
               ? "not there"
               : or_text(param->values[0], "nothing");
}

/* A parameter that only one of them has belongs to another version of the
 * plugin. */
static int has_same_params(
    const struct unit *own, const struct unit *other, struct counterpart *out)
{
    for (uint32_t i = 0; i < own->params_count; i++) {
        const struct unit_param *const here = &own->params[i];
        const struct unit_param *const there = unit_param(other, here->name);

        if (is_neutral(here->name) || is_same_param(here, there)) {
            continue;
        }
        out->differs = 1;
        snprintf(out->trouble, sizeof out->trouble,
            "%.60s was measured with %.40s = %.40s there, and %.40s here",
            own->testcase, here->name, value_of(there), value_of(here));
        return 0;
    }
    return 1;
}

static uint32_t *map_gpus(const struct evidence *own, const struct unit *unit,
    const struct counterpart *to, int by_place, struct arena *arena)
{
    uint32_t *const map =
        arena_alloc(arena, (size_t)unit->gpus_count + 1, sizeof *map);

    for (uint32_t i = 0; map != NULL && i < unit->gpus_count; i++) {
        map[i] = UINT32_MAX;
        for (uint32_t k = 0; k < to->unit->gpus_count; k++) {
            if (by_place
                    ? k == i
                    : unit->gpus[i] < own->facts.gpus_count &&
                          to->unit->gpus[k] < to->other->facts.gpus_count &&
                          is_same_gpu(&own->facts.gpus[unit->gpus[i]],
                              &to->other->facts.gpus[to->unit->gpus[k]])) {
                map[i] = k;
            }
        }
    }
    return map;
}

static int32_t node_number(
    const struct facts *facts, const struct unit *unit, uint32_t at)
{
    return unit->nodes[at] < facts->nodes_count
               ? facts->nodes[unit->nodes[at]].number
               : -1;
}

static uint32_t *map_nodes(const struct evidence *own, const struct unit *unit,
    const struct counterpart *to, int by_place, struct arena *arena)
{
    uint32_t *const map =
        arena_alloc(arena, (size_t)unit->nodes_count + 1, sizeof *map);

    for (uint32_t i = 0; map != NULL && i < unit->nodes_count; i++) {
        map[i] = UINT32_MAX;
        for (uint32_t k = 0; k < to->unit->nodes_count; k++) {
            if (by_place ? k == i
                         : node_number(&own->facts, unit, i) ==
                               node_number(&to->other->facts, to->unit, k)) {
                map[i] = k;
            }
        }
    }
    return map;
}

int32_t counterpart_of_unit(const struct evidence *own, const struct unit *unit,
    const struct evidence *other, int by_place, struct arena *arena,
    struct counterpart *out, struct error *err)
{
    *out = (struct counterpart){ .other = other };

    const struct unit *const found = find_unit(other, unit);

    if (found == NULL) {
        snprintf(out->trouble, sizeof out->trouble, "%.60s was not run there",
            or_text(unit->testcase, "the testcase"));
        return NVBW_OK;
    }
    if (!has_same_params(unit, found, out)) {
        return NVBW_OK;
    }
    out->unit = found;
    out->gpus = map_gpus(own, unit, out, by_place, arena);
    out->nodes = map_nodes(own, unit, out, by_place, arena);
    FAIL_IF(out->gpus == NULL || out->nodes == NULL, err, NVBW_E_SYSTEM,
        "no memory to compare runs");
    return NVBW_OK;
}

/* ---- a cell ---- */

static const char *label_of(const struct unit *unit,
    const struct unit_shape *shape, int is_col, uint32_t at)
{
    const char *const axis = is_col ? shape->col_axis : shape->row_axis;
    const char **const labels = is_col ? shape->col_labels : shape->row_labels;
    const uint32_t count =
        is_col ? shape->col_labels_count : shape->row_labels_count;
    const struct unit_param *const param =
        axis == NULL ? NULL : unit_param(unit, axis);

    if (at < count) {
        return labels[at];
    }
    return param != NULL && at < param->values_count ? param->values[at] : NULL;
}

/* 1 and the place on the same axis there. */
static int map_place(const struct counterpart *to, const struct unit *own,
    const struct unit_shape *here, const struct unit_shape *there, int is_col,
    uint32_t at, uint32_t *out)
{
    const char *const axis = is_col ? here->col_axis : here->row_axis;
    const uint32_t room = is_col ? there->cols : there->rows;

    if (axis != NULL && strcmp(axis, "gpu") == 0) {
        *out = at < own->gpus_count ? to->gpus[at] : UINT32_MAX;
        return *out < room;
    }
    if (axis != NULL && strcmp(axis, "numa") == 0) {
        *out = at < own->nodes_count ? to->nodes[at] : UINT32_MAX;
        return *out < room;
    }

    const char *const label = label_of(own, here, is_col, at);

    for (uint32_t i = 0; label != NULL && i < room; i++) {
        if (is_same_text(label_of(to->unit, there, is_col, i), label)) {
            *out = i;
            return 1;
        }
    }
    *out = at;
    return label == NULL && at < room;
}

int counterpart_cell(const struct counterpart *counterpart,
    const struct unit *own, const struct cell_place *place,
    struct cell_place *out_place)
{
    if (counterpart->unit == NULL) {
        return 0;
    }

    const struct unit_shape *const here = &own->shapes[place->shape];

    for (uint32_t i = 0; i < counterpart->unit->shapes_count; i++) {
        const struct unit_shape *const there = &counterpart->unit->shapes[i];

        if (is_same_text(there->metric, here->metric) &&
            there->unit == here->unit &&
            is_same_text(there->row_axis, here->row_axis) &&
            is_same_text(there->col_axis, here->col_axis)) {
            out_place->shape = i;
            return map_place(counterpart, own, here, there, 0, place->row,
                       &out_place->row) &&
                   map_place(counterpart, own, here, there, 1, place->col,
                       &out_place->col);
        }
    }
    return 0;
}
