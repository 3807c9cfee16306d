/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "wanted.h"

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
