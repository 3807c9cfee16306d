/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "taint.h"

#include <string.h>

#include "strbuf.h"

enum { DEVICES_BYTES = 64 << 10 };

void taint_add(struct taint *taint, uint32_t gpu)
{
    if (gpu < TAINT_LIMIT && !taint->gpus[gpu]) {
        taint->gpus[gpu] = 1;
        taint->count++;
    }
}

int taint_has(const struct taint *taint, uint32_t gpu)
{
    return gpu < TAINT_LIMIT && taint->gpus[gpu];
}

/* ---- devices ---- */

static int is_selected(
    uint32_t gpu, const struct unit *units, uint32_t units_count)
{
    for (uint32_t i = 0; i < units_count; i++) {
        for (uint32_t k = 0; k < units[i].gpus_count; k++) {
            if (units[i].gpus[k] == gpu) {
                return 1;
            }
        }
    }
    return 0;
}

int32_t taint_devices(const struct taint *taint, const struct facts *facts,
    const struct unit *units, uint32_t units_count, struct arena *arena,
    const char **out_text, struct error *err)
{
    struct strbuf text;
    uint32_t selected = 0;
    uint32_t unnamed = 0;

    strbuf_init(&text, DEVICES_BYTES);
    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        if (!is_selected(i, units, units_count)) {
            continue;
        }
        selected++;
        unnamed += facts->gpus[i].uuid == NULL;
        if (facts->gpus[i].uuid != NULL && !taint_has(taint, i)) {
            strbuf_format(
                &text, "%s%s", text.length > 0 ? "," : "", facts->gpus[i].uuid);
        }
    }
    *out_text = NULL;
    if (selected > 0 && unnamed == 0) {
        *out_text = arena_text(arena, text.text);
    }

    const int failed =
        text.failed || (selected > 0 && unnamed == 0 && *out_text == NULL);

    strbuf_free(&text);
    FAIL_IF(failed, err, NVBW_E_SYSTEM, "no memory for a list of GPUs");
    return NVBW_OK;
}

/* ---- blocked cells ---- */

static int32_t tainted_place(
    const struct taint *taint, uint32_t memory, int32_t place)
{
    const int is_on_gpu = memory == NVBW_MEM_DEVICE || memory == NVBW_MEM_VMM ||
                          memory == NVBW_MEM_FABRIC ||
                          memory == NVBW_MEM_MULTICAST;

    return is_on_gpu && place >= 0 && taint_has(taint, (uint32_t)place) ? place
                                                                        : -1;
}

static int32_t tainted_flow(
    const struct taint *taint, const struct flow_record *flow)
{
    int32_t gpu = tainted_place(taint, flow->src_memory, flow->src_place);

    if (gpu < 0) {
        gpu = tainted_place(taint, flow->dst_memory, flow->dst_place);
    }
    if (gpu < 0 && flow->initiator != NVBW_BY_CPU) {
        gpu = tainted_place(taint, NVBW_MEM_DEVICE, flow->executor);
    }
    return gpu;
}

static int32_t tainted_record(
    const struct taint *taint, const struct record *record)
{
    for (uint32_t i = 0; i < record->flows_count; i++) {
        const int32_t gpu = tainted_flow(taint, &record->flows[i]);

        if (gpu >= 0) {
            return gpu;
        }
    }
    for (uint32_t i = 0; i < record->gpus_count; i++) {
        if (taint_has(taint, record->gpus[i])) {
            return (int32_t)record->gpus[i];
        }
    }
    return -1;
}

static int32_t tainted_axis(const struct taint *taint, const struct unit *unit,
    const char *axis, uint32_t at)
{
    if (axis == NULL || strcmp(axis, "gpu") != 0 || at >= unit->gpus_count ||
        !taint_has(taint, unit->gpus[at])) {
        return -1;
    }
    return (int32_t)unit->gpus[at];
}

int32_t taint_blocks(const struct taint *taint, const struct unit *unit,
    uint32_t cell, const struct recording *recording)
{
    struct cell_place place;

    if (taint->count == 0 || !unit_cell_at(unit, cell, &place)) {
        return -1;
    }

    const struct unit_shape *const shape = &unit->shapes[place.shape];
    int32_t gpu = tainted_axis(taint, unit, shape->row_axis, place.row);

    if (gpu < 0) {
        gpu = tainted_axis(taint, unit, shape->col_axis, place.col);
    }
    for (uint32_t i = 0;
         gpu < 0 && recording != NULL && i < recording->records_count; i++) {
        const struct record *const record = &recording->records[i];

        if (record->metric != NULL &&
            unit_cell_number(unit, record->metric, record->row, record->col) ==
                (int32_t)cell) {
            gpu = tainted_record(taint, record);
        }
    }
    return gpu;
}
