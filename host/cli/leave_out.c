/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "leave_out.h"

#include <stdlib.h>
#include <string.h>

#include "quantity.h"
#include "state.h"

/* A pair and its place in the draw. */
struct lot {
    uint64_t drawn;
    uint32_t row, col;
};

/* Scatters neighbouring numbers (the finaliser of SplitMix64). */
static uint64_t scatter(uint64_t value)
{
    value += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

static int by_draw(const void *one, const void *other)
{
    const struct lot *const a = one;
    const struct lot *const b = other;

    return (a->drawn > b->drawn) - (a->drawn < b->drawn);
}

static uint64_t seed_of(const struct unit *unit)
{
    const struct unit_param *const param = unit_param(unit, "seed");
    int64_t seed = 1;

    if (param != NULL && param->values_count == 1) {
        quantity_int(param->values[0], &seed, NULL);
    }
    return (uint64_t)seed;
}

/* All pairs, the chosen ones first. */
static int32_t draw(const struct unit *unit, uint32_t gpus, struct arena *arena,
    struct lot **out, uint32_t *out_count, struct error *err)
{
    struct lot *const lots =
        arena_alloc(arena, (size_t)gpus * gpus, sizeof *lots);
    uint32_t count = 0;

    FAIL_IF(lots == NULL, err, NVBW_E_SYSTEM, "no memory for pairs of GPUs");
    for (uint32_t at = 0; at < gpus * gpus; at++) {
        if (at / gpus != at % gpus) {
            lots[count++] =
                (struct lot){ .drawn = scatter(scatter(seed_of(unit)) ^ at),
                    .row = at / gpus,
                    .col = at % gpus };
        }
    }
    qsort(lots, count, sizeof *lots, by_draw);
    *out = lots;
    *out_count = count;
    return NVBW_OK;
}

/* The cells of one metric that lie beyond the chosen pairs. */
static int32_t leave_out_shape(const struct unit *unit,
    const struct unit_shape *shape, uint32_t pairs, const char *why,
    struct arena *arena, struct record **list, uint32_t *count,
    struct error *err)
{
    struct lot *lots = NULL;
    uint32_t lots_count = 0;

    TRY(draw(unit, shape->rows, arena, &lots, &lots_count, err));
    for (uint32_t i = pairs; i < lots_count; i++) {
        struct record *const grown =
            arena_append(arena, *list, count, sizeof *grown);

        FAIL_IF(
            grown == NULL, err, NVBW_E_SYSTEM, "no memory for pairs of GPUs");
        *list = grown;
        record_init(&grown[*count - 1]);
        grown[*count - 1].unit = unit->id;
        grown[*count - 1].metric = shape->metric;
        grown[*count - 1].row = lots[i].row;
        grown[*count - 1].col = lots[i].col;
        grown[*count - 1].state = STATE_SKIP;
        grown[*count - 1].reason = "excluded";
        grown[*count - 1].message = why;
    }
    return NVBW_OK;
}

int32_t leave_out_pairs(const struct unit *unit, uint32_t pairs,
    const char *why, struct arena *arena, struct record **out_records,
    uint32_t *out_count, struct error *err)
{
    *out_records = NULL;
    *out_count = 0;
    for (uint32_t i = 0; i < unit->shapes_count; i++) {
        const struct unit_shape *const shape = &unit->shapes[i];

        if (unit->state == STATE_NONE && shape->pairs &&
            shape->rows == shape->cols) {
            TRY(leave_out_shape(
                unit, shape, pairs, why, arena, out_records, out_count, err));
        }
    }
    return NVBW_OK;
}
