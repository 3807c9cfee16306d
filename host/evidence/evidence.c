/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "evidence.h"

#include <string.h>

enum { UNIT_CELLS_LIMIT = 1 << 26 };

/* Records by cell. Numbers of records are stored plus one, so that 0 is
 * none. A unit's table is made with its first record: a run that was stopped
 * early on a large machine must not pay for the units that never ran. */
struct evidence_index {
    uint32_t **latest; /* per unit, per cell number: the newest record */
    uint32_t latest_count;
    uint32_t *before; /* per record: the record of the same cell before it */
    uint32_t before_count;
};

static int is_same_text(const char *one, const char *other)
{
    return one == other ||
           (one != NULL && other != NULL && strcmp(one, other) == 0);
}

/* ---- index ---- */

static int is_indexed(const struct evidence *evidence)
{
    return evidence->index != NULL &&
           evidence->index->before_count == evidence->records_count &&
           evidence->index->latest_count == evidence->units_count;
}

static uint32_t *unit_table(
    struct evidence *evidence, struct arena *arena, uint32_t unit)
{
    uint32_t **const slot = &evidence->index->latest[unit];

    if (*slot == NULL) {
        *slot = arena_alloc(arena,
            (size_t)unit_cell_span(&evidence->units[unit]) + 1, sizeof **slot);
    }
    return *slot;
}

/* Enters the record with the number next in turn. */
static int32_t index_record(struct evidence *evidence, struct arena *arena,
    const struct record *record, struct error *err)
{
    struct evidence_index *const index = evidence->index;
    const int32_t cell =
        record->metric == NULL || record->unit >= evidence->units_count
            ? -1
            : unit_cell_number(&evidence->units[record->unit], record->metric,
                  record->row, record->col);

    FAIL_IF(cell < 0, err, NVBW_E_INVALID,
        "no unit has the cell of this record: unit %u, metric \"%s\", "
        "row %u, column %u",
        record->unit, record->metric == NULL ? "" : record->metric, record->row,
        record->col);

    uint32_t *const table = unit_table(evidence, arena, record->unit);
    uint32_t *const before = arena_append(
        arena, index->before, &index->before_count, sizeof *before);

    FAIL_IF(table == NULL || before == NULL, err, NVBW_E_SYSTEM,
        "evidence is larger than %zu bytes", arena->limit_bytes);
    index->before = before;
    before[index->before_count - 1] = table[cell];
    table[cell] = index->before_count;
    return NVBW_OK;
}

static int32_t grow_index(
    struct evidence *evidence, struct arena *arena, struct error *err)
{
    if (evidence->index == NULL) {
        evidence->index = arena_alloc(arena, 1, sizeof *evidence->index);
    }

    struct evidence_index *const index = evidence->index;

    while (index != NULL && index->latest_count < evidence->units_count) {
        index->latest = arena_append(
            arena, index->latest, &index->latest_count, sizeof *index->latest);
        if (index->latest == NULL) {
            break;
        }
    }
    FAIL_IF(
        index == NULL || (evidence->units_count > 0 && index->latest == NULL),
        err, NVBW_E_SYSTEM, "evidence is larger than %zu bytes",
        arena->limit_bytes);
    return NVBW_OK;
}

/* After a unit got other cells, numbers mean something else. */
static int32_t rebuild_index(
    struct evidence *evidence, struct arena *arena, struct error *err)
{
    memset(evidence->index, 0, sizeof *evidence->index);
    TRY(grow_index(evidence, arena, err));
    for (uint32_t i = 0; i < evidence->records_count; i++) {
        TRY(index_record(evidence, arena, &evidence->records[i], err));
    }
    return NVBW_OK;
}

/* ---- adding ---- */

/* Appends size bytes of object to a list of evidence. */
static int32_t append(struct arena *arena, void *list_at, uint32_t *count,
    const void *object, size_t size, struct error *err)
{
    void **const slot = list_at;
    void *const list = arena_append(arena, *slot, count, size);

    FAIL_IF(list == NULL, err, NVBW_E_SYSTEM,
        "evidence is larger than %zu bytes", arena->limit_bytes);
    *slot = list;
    memcpy((char *)list + (size_t)(*count - 1) * size, object, size);
    return NVBW_OK;
}

static int32_t adopt_run(struct evidence *evidence, struct arena *arena,
    const void *object, struct error *err)
{
    (void)arena;
    (void)err;
    if (evidence->header.version == 0) {
        memcpy(&evidence->header, object, sizeof evidence->header);
    }
    return NVBW_OK;
}

static int32_t adopt_plan(struct evidence *evidence, struct arena *arena,
    const void *object, struct error *err)
{
    (void)arena;
    (void)err;
    memcpy(&evidence->plan, object, sizeof evidence->plan);
    return NVBW_OK;
}

static int32_t adopt_facts(struct evidence *evidence, struct arena *arena,
    const void *object, struct error *err)
{
    (void)arena;
    (void)err;
    memcpy(&evidence->facts, object, sizeof evidence->facts);
    return NVBW_OK;
}

static int32_t adopt_plugin(struct evidence *evidence, struct arena *arena,
    const void *object, struct error *err)
{
    const struct plugin_schema *const plugin = object;

    for (uint32_t i = 0; i < evidence->plugins_count; i++) {
        struct plugin_schema *const known = &evidence->plugins[i];

        if (is_same_text(known->name, plugin->name) &&
            is_same_text(known->file, plugin->file)) {
            *known = *plugin;
            return NVBW_OK;
        }
    }
    return append(arena, &evidence->plugins, &evidence->plugins_count, plugin,
        sizeof *plugin, err);
}

static int32_t adopt_efficiency(struct evidence *evidence, struct arena *arena,
    const void *object, struct error *err)
{
    const struct efficiency_file *const file = object;

    for (uint32_t i = 0; i < evidence->efficiencies_count; i++) {
        if (is_same_text(evidence->efficiencies[i].file, file->file)) {
            evidence->efficiencies[i] = *file;
            return NVBW_OK;
        }
    }
    return append(arena, &evidence->efficiencies, &evidence->efficiencies_count,
        file, sizeof *file, err);
}

static int is_nothing(const char *text)
{
    return text == NULL || text[0] == '\0';
}

/* Cells are numbered in 32 bits, and all who read units take their names for
 * granted: a journal may hold anything. */
static int32_t check_unit(const struct unit *unit, struct error *err)
{
    uint64_t cells = 0;

    FAIL_IF(is_nothing(unit->plugin) || is_nothing(unit->testcase), err,
        NVBW_E_INVALID, "unit %u has no plugin or no testcase", unit->id);
    for (uint32_t i = 0; i < unit->params_count; i++) {
        FAIL_IF(is_nothing(unit->params[i].name), err, NVBW_E_INVALID,
            "unit %u has a parameter without a name", unit->id);
    }
    for (uint32_t i = 0; i < unit->shapes_count; i++) {
        const struct unit_shape *const shape = &unit->shapes[i];

        FAIL_IF(is_nothing(shape->metric), err, NVBW_E_INVALID,
            "unit %u has a metric without a name", unit->id);
        cells += (uint64_t)shape->rows * shape->cols;
        FAIL_IF(cells > UNIT_CELLS_LIMIT, err, NVBW_E_INVALID,
            "unit %u has more than %d cells", unit->id, UNIT_CELLS_LIMIT);
    }
    return NVBW_OK;
}

static int32_t adopt_unit(struct evidence *evidence, struct arena *arena,
    const void *object, struct error *err)
{
    const struct unit *const unit = object;

    TRY(check_unit(unit, err));
    FAIL_IF(unit->id > evidence->units_count, err, NVBW_E_INVALID,
        "unit %u comes before unit %u", unit->id, evidence->units_count);
    if (unit->id < evidence->units_count) {
        evidence->units[unit->id] = *unit;
        return rebuild_index(evidence, arena, err);
    }
    TRY(append(arena, &evidence->units, &evidence->units_count, unit,
        sizeof *unit, err));
    return grow_index(evidence, arena, err);
}

static int32_t adopt_cell(struct evidence *evidence, struct arena *arena,
    const void *object, struct error *err)
{
    TRY(grow_index(evidence, arena, err));
    TRY(index_record(evidence, arena, object, err));
    return append(arena, &evidence->records, &evidence->records_count, object,
        sizeof(struct record), err);
}

static int32_t adopt_event(struct evidence *evidence, struct arena *arena,
    const void *object, struct error *err)
{
    const struct event *const event = object;

    if (is_same_text(event->what, "begun")) {
        evidence->begun = 1;
    }
    if (is_same_text(event->what, "resumed")) {
        evidence->ended = 0;
    }
    return append(arena, &evidence->events, &evidence->events_count, event,
        sizeof *event, err);
}

static int32_t adopt_reading(struct evidence *evidence, struct arena *arena,
    const void *object, struct error *err)
{
    return append(arena, &evidence->readings, &evidence->readings_count, object,
        sizeof(struct gpu_reading), err);
}

static int32_t adopt_end(struct evidence *evidence, struct arena *arena,
    const void *object, struct error *err)
{
    (void)arena;
    (void)err;
    memcpy(&evidence->end, object, sizeof evidence->end);
    evidence->ended = 1;
    return NVBW_OK;
}

int32_t evidence_adopt(struct evidence *evidence, struct arena *arena,
    uint32_t line_type, const void *object, struct error *err)
{
    static int32_t (*const adopters[])(
        struct evidence *, struct arena *, const void *, struct error *) = {
        [LINE_RUN] = adopt_run,
        [LINE_PLAN] = adopt_plan,
        [LINE_FACTS] = adopt_facts,
        [LINE_PLUGIN] = adopt_plugin,
        [LINE_UNIT] = adopt_unit,
        [LINE_CELL] = adopt_cell,
        [LINE_EVENT] = adopt_event,
        [LINE_END] = adopt_end,
        [LINE_EFFICIENCY] = adopt_efficiency,
        [LINE_READING] = adopt_reading,
    };

    FAIL_IF(line_fields(line_type) == NULL, err, NVBW_E_INVALID,
        "journal lines have no type %u", line_type);
    return adopters[line_type](evidence, arena, object, err);
}

int32_t evidence_add(struct evidence *evidence, struct arena *arena,
    uint32_t line_type, const void *object, struct error *err)
{
    const struct fields *const fields = line_fields(line_type);

    FAIL_IF(fields == NULL, err, NVBW_E_INVALID,
        "journal lines have no type %u", line_type);

    void *const copy = arena_alloc(arena, 1, fields->size);

    FAIL_IF(copy == NULL, err, NVBW_E_SYSTEM,
        "evidence is larger than %zu bytes", arena->limit_bytes);
    TRY(fields_copy(fields, object, arena, copy, err));
    return evidence_adopt(evidence, arena, line_type, copy, err);
}

/* ---- looking up ---- */

static int is_of_cell(const struct record *record, uint32_t unit,
    const char *metric, uint32_t row, uint32_t col)
{
    return record->unit == unit && record->row == row && record->col == col &&
           is_same_text(record->metric, metric);
}

/* The last of the cell's records among the first `end`. */
static const struct record *search_backwards(const struct evidence *evidence,
    uint32_t end, uint32_t unit, const char *metric, uint32_t row, uint32_t col)
{
    while (end > 0) {
        const struct record *const record = &evidence->records[--end];

        if (is_of_cell(record, unit, metric, row, col)) {
            return record;
        }
    }
    return NULL;
}

static const struct record *record_at(
    const struct evidence *evidence, uint32_t number_plus_one)
{
    return number_plus_one == 0 ? NULL
                                : &evidence->records[number_plus_one - 1];
}

const struct record *evidence_latest(const struct evidence *evidence,
    uint32_t unit, const char *metric, uint32_t row, uint32_t col)
{
    if (!is_indexed(evidence)) {
        return search_backwards(
            evidence, evidence->records_count, unit, metric, row, col);
    }
    if (unit >= evidence->units_count ||
        evidence->index->latest[unit] == NULL) {
        return NULL;
    }

    const int32_t cell =
        unit_cell_number(&evidence->units[unit], metric, row, col);

    return cell < 0 ? NULL
                    : record_at(evidence, evidence->index->latest[unit][cell]);
}

const struct record *evidence_before(
    const struct evidence *evidence, const struct record *record)
{
    const uint32_t number = (uint32_t)(record - evidence->records);

    if (is_indexed(evidence)) {
        return record_at(evidence, evidence->index->before[number]);
    }
    return search_backwards(evidence, number, record->unit, record->metric,
        record->row, record->col);
}

const struct record *evidence_cell(const struct evidence *evidence,
    uint32_t unit, const char *metric, uint32_t row, uint32_t col)
{
    const struct record *best =
        evidence_latest(evidence, unit, metric, row, col);

    for (const struct record *record = best; record != NULL;
         record = evidence_before(evidence, record)) {
        if (record->attempt > best->attempt) {
            best = record;
        }
    }
    return best;
}
