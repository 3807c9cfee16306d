/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "ledger.h"

#include "host_clock.h"

static const uint64_t WATCH_TICK_NS = 250000000u;

void ledger_init(struct ledger *ledger, const struct conduct_request *request)
{
    *ledger = (struct ledger){ .evidence = request->evidence,
        .arena = request->arena,
        .journal = request->journal,
        .watch = request->watch,
        .journal_due_ns = UINT64_MAX,
        .watch_due_ns = UINT64_MAX };
    if (request->watch != NULL && request->watch->tick != NULL) {
        ledger->watch_due_ns = host_clock_ns();
    }
}

/* In the journal units have the run's numbers, in memory those of the round. */
static int32_t write_line(const struct ledger *ledger, uint32_t line_type,
    const void *object, struct error *err)
{
    struct unit unit;
    struct record record;
    struct event event;

    switch (line_type) {
    case LINE_UNIT:
        unit = *(const struct unit *)object;
        unit.id += ledger->first_unit;
        return journal_add(ledger->journal, line_type, &unit, err);
    case LINE_CELL:
        record = *(const struct record *)object;
        record.unit += ledger->first_unit;
        return journal_add(ledger->journal, line_type, &record, err);
    case LINE_EVENT:
        event = *(const struct event *)object;
        if (event.unit >= 0) {
            event.unit += (int32_t)ledger->first_unit;
        }
        return journal_add(ledger->journal, line_type, &event, err);
    default:
        return journal_add(ledger->journal, line_type, object, err);
    }
}

int32_t ledger_add(struct ledger *ledger, uint32_t line_type,
    const void *object, struct error *err)
{
    if (ledger->journal != NULL) {
        TRY(write_line(ledger, line_type, object, err));
        ledger->journal_due_ns = 0; /* the journal knows; ask it */
    }
    return evidence_add(
        ledger->evidence, ledger->arena, line_type, object, err);
}

int32_t ledger_record(struct ledger *ledger, const struct unit *unit,
    const struct record *record, struct error *err)
{
    struct record numbered = *record;

    numbered.series = ledger->series;
    TRY(ledger_add(ledger, LINE_CELL, &numbered, err));
    if (ledger->watch != NULL && ledger->watch->cell_settled != NULL) {
        ledger->watch->cell_settled(ledger->watch->user, unit, &numbered);
    }
    return NVBW_OK;
}

int32_t ledger_settle(struct ledger *ledger, const struct unit *unit,
    uint32_t attempt, uint32_t cell, const struct cause *cause,
    struct error *err)
{
    struct cell_place place;
    struct record record;

    FAIL_IF(!unit_cell_at(unit, cell, &place), err, NVBW_E_INVALID,
        "%s/%s has no cell %u", unit->plugin, unit->testcase, cell);
    record_init(&record);
    record.unit = unit->id;
    record.attempt = attempt;
    record.metric = unit->shapes[place.shape].metric;
    record.row = place.row;
    record.col = place.col;
    record.state = cause->state;
    record.reason = cause->reason;
    record.message = cause->text[0] != '\0' ? cause->text : NULL;
    record.begin_ns = host_clock_ns();
    record.end_ns = record.begin_ns;
    return ledger_record(ledger, unit, &record, err);
}

int32_t ledger_event(
    struct ledger *ledger, const struct event *event, struct error *err)
{
    struct event dated = *event;

    dated.now_ns = host_clock_ns();
    TRY(ledger_add(ledger, LINE_EVENT, &dated, err));
    if (ledger->watch != NULL && ledger->watch->event != NULL) {
        ledger->watch->event(ledger->watch->user, &dated);
    }
    return NVBW_OK;
}

void ledger_tell_reading(
    const struct ledger *ledger, const struct gpu_reading *reading)
{
    if (ledger->watch != NULL && ledger->watch->reading != NULL) {
        ledger->watch->reading(ledger->watch->user, reading);
    }
}

int32_t ledger_tick(
    struct ledger *ledger, uint64_t *out_due_ns, struct error *err)
{
    const uint64_t now_ns = host_clock_ns();

    if (ledger->journal != NULL && now_ns >= ledger->journal_due_ns) {
        TRY(journal_tick(
            ledger->journal, now_ns, &ledger->journal_due_ns, err));
    }
    if (now_ns >= ledger->watch_due_ns) {
        ledger->watch->tick(ledger->watch->user, now_ns);
        ledger->watch_due_ns = now_ns + WATCH_TICK_NS;
    }
    *out_due_ns = ledger->journal_due_ns < ledger->watch_due_ns
                      ? ledger->journal_due_ns
                      : ledger->watch_due_ns;
    return NVBW_OK;
}
