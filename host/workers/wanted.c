/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "wanted.h"

#include <string.h>

int32_t wanted_init(struct wanted *wanted, const struct unit *unit,
    struct arena *arena, struct error *err)
{
    const uint32_t span = unit_cell_span(unit);

    *wanted = (struct wanted){ .unit = unit, .span = span };
    wanted->has = arena_alloc(arena, span, 1);
    FAIL_IF(wanted->has == NULL, err, NVBW_E_SYSTEM,
        "no memory for the %u cells of %s/%s", span, unit->plugin,
        unit->testcase);
    return NVBW_OK;
}

void wanted_add(struct wanted *wanted, uint32_t cell)
{
    struct cell_place place;

    if (cell < wanted->span && !wanted->has[cell] &&
        unit_cell_at(wanted->unit, cell, &place)) {
        wanted->has[cell] = 1;
        wanted->count++;
    }
}

static int is_same_axis(const char *one, const char *other)
{
    return one == other ||
           (one != NULL && other != NULL && strcmp(one, other) == 0);
}

static int has_same_places(
    const struct unit_shape *one, const struct unit_shape *other)
{
    return one->rows == other->rows && one->cols == other->cols &&
           is_same_axis(one->row_axis, other->row_axis) &&
           is_same_axis(one->col_axis, other->col_axis);
}

static uint32_t first_of(const struct unit *unit, uint32_t shape)
{
    uint32_t first = 0;

    for (uint32_t i = 0; i < shape; i++) {
        first += unit->shapes[i].rows * unit->shapes[i].cols;
    }
    return first;
}

static void add_sources_of(
    struct wanted *wanted, uint32_t derived, uint32_t source)
{
    const struct unit_shape *const shapes = wanted->unit->shapes;
    const uint32_t span = shapes[derived].rows * shapes[derived].cols;
    const uint32_t from = first_of(wanted->unit, derived);
    const uint32_t to = first_of(wanted->unit, source);
    const int is_alike = has_same_places(&shapes[derived], &shapes[source]);
    uint32_t any = 0;

    for (uint32_t i = 0; i < span; i++) {
        if (!wanted_has(wanted, from + i)) {
            continue;
        }
        any = 1;
        if (is_alike) {
            wanted_add(wanted, to + i);
        }
    }
    for (uint32_t i = 0;
         any && !is_alike && i < shapes[source].rows * shapes[source].cols;
         i++) {
        wanted_add(wanted, to + i);
    }
}

void wanted_add_sources(struct wanted *wanted)
{
    const struct unit *const unit = wanted->unit;

    for (uint32_t i = 0; i < unit->shapes_count; i++) {
        for (uint32_t j = 0; unit->shapes[i].derived && j < unit->shapes_count;
             j++) {
            if (!unit->shapes[j].derived) {
                add_sources_of(wanted, i, j);
            }
        }
    }
}

void wanted_remove(struct wanted *wanted, uint32_t cell)
{
    if (wanted_has(wanted, cell)) {
        wanted->has[cell] = 0;
        wanted->count--;
    }
}

int wanted_has(const struct wanted *wanted, uint32_t cell)
{
    return cell < wanted->span && wanted->has[cell];
}

int32_t wanted_next(const struct wanted *wanted, uint32_t from)
{
    for (uint32_t cell = from; cell < wanted->span; cell++) {
        if (wanted->has[cell]) {
            return (int32_t)cell;
        }
    }
    return -1;
}

int32_t wanted_list(const struct wanted *wanted, struct arena *arena,
    uint32_t **out_cells, uint32_t *out_count, struct error *err)
{
    uint32_t *const cells = arena_alloc(arena, wanted->count, sizeof *cells);
    uint32_t count = 0;

    FAIL_IF(cells == NULL, err, NVBW_E_SYSTEM, "no memory for %u cells",
        wanted->count);
    for (uint32_t cell = 0; cell < wanted->span; cell++) {
        if (wanted->has[cell]) {
            cells[count++] = cell;
        }
    }
    *out_cells = cells;
    *out_count = count;
    return NVBW_OK;
}
