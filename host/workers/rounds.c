/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "rounds.h"

#include <string.h>

#include "host_clock.h"
#include "quantity.h"
#include "state.h"

#define NS_PER_S UINT64_C(1000000000)

/* Of the header's "2026-11-30T06:01:30Z"; -1: not known. */
static time_t started_of(const struct run_header *header)
{
    struct tm parts = { 0 };

    if (header->started == NULL ||
        strptime(header->started, "%Y-%m-%dT%H:%M:%SZ", &parts) == NULL) {
        return -1;
    }
    return timegm(&parts);
}

static int is_this_boot(
    const struct run_header *header, const struct rounds_clock *clock)
{
    if (header->started_ns > clock->now_ns) {
        return 0;
    }
    return header->boot_id == NULL || clock->boot_id == NULL ||
           strcmp(header->boot_id, clock->boot_id) == 0;
}

/* What is left of the span by the clock on the wall. */
static uint64_t end_by_wall(const struct run_header *header,
    const struct rounds_clock *clock, uint64_t span_ns)
{
    const time_t started = started_of(header);
    const uint64_t gone_s = started < 0 || started > clock->now
                                ? UINT64_MAX / NS_PER_S
                                : (uint64_t)(clock->now - started);
    const uint64_t gone_ns =
        gone_s > UINT64_MAX / NS_PER_S ? UINT64_MAX : gone_s * NS_PER_S;

    return gone_ns >= span_ns
               ? 0
               : host_clock_after(clock->now_ns, span_ns - gone_ns);
}

uint64_t rounds_end_ns(
    const struct evidence *evidence, const struct rounds_clock *clock)
{
    const struct plan_value *const value =
        plan_option(&evidence->plan, "duration");
    const struct run_header *const header = &evidence->header;
    uint64_t span_ns = 0;

    /* plan_check has tried the value before. */
    if (value == NULL || value->texts_count == 0 ||
        quantity_duration(value->texts[0], &span_ns, NULL) < 0) {
        return 0;
    }
    return is_this_boot(header, clock)
               ? host_clock_after(header->started_ns, span_ns)
               : end_by_wall(header, clock, span_ns);
}

/* ---- one round in memory ---- */

/* Run's records in order of their units. */
static int32_t sort_records(struct rounds *rounds, struct error *err)
{
    const struct evidence *const run = rounds->run;
    const uint32_t units = run->units_count;

    rounds->order =
        arena_alloc(rounds->run_arena, run->records_count, sizeof(uint32_t));
    rounds->starts = arena_alloc(
        rounds->run_arena, (size_t)units + 2, sizeof *rounds->starts);
    FAIL_IF(rounds->order == NULL || rounds->starts == NULL, err, NVBW_E_SYSTEM,
        "no memory for the order of %u records", run->records_count);
    for (uint32_t i = 0; i < run->records_count; i++) {
        rounds->starts[run->records[i].unit + 2]++;
    }
    for (uint32_t i = 2; i <= units; i++) {
        rounds->starts[i] += rounds->starts[i - 1];
    }
    /* Counting up makes of each start, one place further on, that of the unit
     * after it. */
    for (uint32_t i = 0; i < run->records_count; i++) {
        rounds->order[rounds->starts[run->records[i].unit + 1]++] = i;
    }
    return NVBW_OK;
}

static int32_t take_unit(
    struct rounds *rounds, uint32_t number, struct error *err)
{
    struct unit unit = rounds->run->units[number];

    unit.id = number - rounds->first_unit;
    return evidence_adopt(&rounds->now, &rounds->arena, LINE_UNIT, &unit, err);
}

static int32_t take_records(
    struct rounds *rounds, uint32_t number, struct error *err)
{
    for (uint32_t i = rounds->starts[number]; i < rounds->starts[number + 1];
         i++) {
        struct record record = rounds->run->records[rounds->order[i]];

        record.unit = number - rounds->first_unit;
        TRY(evidence_adopt(
            &rounds->now, &rounds->arena, LINE_CELL, &record, err));
        rounds->known++;
    }
    return NVBW_OK;
}

/* What is planned for the round that begins with that unit of the run, and what
 * an earlier part of the run measured of it. */
static int32_t take_planned(struct rounds *rounds, struct error *err)
{
    const struct evidence *const run = rounds->run;
    uint32_t end = rounds->first_unit;

    while (end < run->units_count && run->units[end].round == rounds->number) {
        TRY(take_unit(rounds, end, err));
        end++;
    }
    for (uint32_t i = rounds->first_unit; i < end; i++) {
        TRY(take_records(rounds, i, err));
    }
    rounds->next_unit = end;
    return NVBW_OK;
}

/* An empty round of the run's plan on the run's machine, whose units begin
 * behind those of the last one. */
static void begin(struct rounds *rounds, uint32_t number)
{
    const struct evidence *const run = rounds->run;

    rounds->number = number;
    rounds->first_unit = rounds->next_unit;
    rounds->known = 0;
    rounds->now = (struct evidence){ .header = run->header,
        .plan = run->plan,
        .facts = run->facts,
        .plugins = run->plugins,
        .plugins_count = run->plugins_count,
        .efficiencies = run->efficiencies,
        .efficiencies_count = run->efficiencies_count,
        .begun = run->begun,
        .baseline = run->baseline };
    rounds->ledger->first_unit = rounds->first_unit;
    arena_init(&rounds->arena,
        rounds->run_arena->limit_bytes - rounds->run_arena->used_bytes);
}

int32_t rounds_open(struct rounds *rounds,
    const struct conduct_request *request, struct ledger *ledger,
    struct error *err)
{
    *rounds = (struct rounds){ .run = request->evidence,
        .run_arena = request->arena,
        .journal = request->journal,
        .ledger = ledger };
    begin(rounds, 0);
    ledger->evidence = &rounds->now;
    ledger->arena = &rounds->arena;
    TRY(sort_records(rounds, err));
    return take_planned(rounds, err);
}

int rounds_has_next(const struct rounds *rounds)
{
    return rounds->next_unit < rounds->run->units_count;
}

int rounds_has_measured(const struct rounds *rounds)
{
    for (uint32_t i = rounds->now.records_count; i > 0; i--) {
        if (rounds->now.records[i - 1].state == STATE_MEASURED) {
            return 1;
        }
    }
    return 0;
}

int32_t rounds_keep_axes(
    struct rounds *rounds, const struct unit *unit, struct error *err)
{
    return rounds->number > 0 ? NVBW_OK
                              : evidence_add(rounds->run, rounds->run_arena,
                                    LINE_UNIT, unit, err);
}

/* ---- from round to round ---- */

/* The record of the same attempt at the same cell that evidence has, or
 * NULL. */
static const struct record *same_of(
    const struct evidence *evidence, const struct record *record)
{
    const struct record *at = evidence_latest(
        evidence, record->unit, record->metric, record->row, record->col);

    while (at != NULL &&
           (at->attempt != record->attempt || at->series != record->series ||
               at->end_ns != record->end_ns)) {
        at = evidence_before(evidence, at);
    }
    return at;
}

static int32_t give_records(struct rounds *rounds, struct error *err)
{
    for (uint32_t i = rounds->known; i < rounds->now.records_count; i++) {
        struct record record = rounds->now.records[i];

        record.unit += rounds->first_unit;
        if (rounds->left == 0 || same_of(rounds->run, &record) == NULL) {
            TRY(evidence_adopt(
                rounds->run, rounds->run_arena, LINE_CELL, &record, err));
        }
    }
    return NVBW_OK;
}

static int32_t give_units(struct rounds *rounds, struct error *err)
{
    for (uint32_t i = 0; i < rounds->now.units_count; i++) {
        struct unit unit = rounds->now.units[i];

        unit.id += rounds->first_unit;
        if (unit.id >= rounds->run->units_count ||
            (rounds->run->units[unit.id].open_axes && !unit.open_axes)) {
            TRY(evidence_adopt(
                rounds->run, rounds->run_arena, LINE_UNIT, &unit, err));
        }
    }
    return NVBW_OK;
}

/* When the last of them was that run has. */
static uint64_t last_event_ns(const struct evidence *run)
{
    return run->events_count == 0 ? 0
                                  : run->events[run->events_count - 1].now_ns;
}

static uint64_t last_reading_ns(const struct evidence *run)
{
    return run->readings_count == 0
               ? 0
               : run->readings[run->readings_count - 1].now_ns;
}

/* Events and readings come in order of time; where run was read from the
 * journal it lacks those that could not be written. */
static int32_t give_happenings(struct rounds *rounds, struct error *err)
{
    struct evidence *const now = &rounds->now;
    const uint64_t events_ns =
        rounds->left > 0 ? last_event_ns(rounds->run) : 0;
    const uint64_t readings_ns =
        rounds->left > 0 ? last_reading_ns(rounds->run) : 0;

    for (uint32_t i = 0; i < now->events_count; i++) {
        struct event event = now->events[i];

        if (event.now_ns <= events_ns && rounds->left > 0) {
            continue;
        }
        if (event.unit >= 0) {
            event.unit += (int32_t)rounds->first_unit;
        }
        TRY(evidence_adopt(
            rounds->run, rounds->run_arena, LINE_EVENT, &event, err));
    }
    for (uint32_t i = 0; i < now->readings_count; i++) {
        if (now->readings[i].now_ns <= readings_ns && rounds->left > 0) {
            continue;
        }
        TRY(evidence_adopt(rounds->run, rounds->run_arena, LINE_READING,
            &now->readings[i], err));
    }
    return NVBW_OK;
}

/* 1 if the run has no other round. */
static int is_whole_run(const struct rounds *rounds)
{
    return rounds->left == 0 && rounds->first_unit == 0 &&
           rounds->now.units_count == rounds->run->units_count;
}

/* Units and records of the only round are the run's; nothing is copied. */
static void give_all(struct rounds *rounds)
{
    rounds->run->units = rounds->now.units;
    rounds->run->records = rounds->now.records;
    rounds->run->records_count = rounds->now.records_count;
    rounds->run->index = rounds->now.index;
}

/* Adds to run what it does not have of the round at work. */
static int32_t give(struct rounds *rounds, struct error *err)
{
    FAIL_IF(!arena_take(rounds->run_arena, &rounds->arena), err, NVBW_E_SYSTEM,
        "evidence is larger than %zu bytes", rounds->run_arena->limit_bytes);
    if (is_whole_run(rounds)) {
        give_all(rounds);
    } else {
        TRY(give_units(rounds, err));
        TRY(give_records(rounds, err));
    }
    TRY(give_happenings(rounds, err));
    return rounds->now.ended && !rounds->run->ended
               ? evidence_adopt(rounds->run, rounds->run_arena, LINE_END,
                     &rounds->now.end, err)
               : NVBW_OK;
}

/* Where a journal has it all, its memory is given back. */
static int32_t leave(struct rounds *rounds, struct error *err)
{
    if (rounds->journal == NULL) {
        return give(rounds, err);
    }
    TRY(journal_write(rounds->journal, err));
    rounds->left++;
    arena_clear(&rounds->arena);
    return NVBW_OK;
}

/* The units of the first round that this one does not have: all, or those that
 * were still to be added when a run was broken off. */
static int32_t add_units(struct rounds *rounds, struct error *err)
{
    const struct conduct_watch *const watch = rounds->ledger->watch;
    const struct evidence *const run = rounds->run;
    const uint32_t had = rounds->now.units_count;

    for (uint32_t i = had; i < run->units_count && run->units[i].round == 0;
         i++) {
        struct unit unit = run->units[i];

        unit.round = rounds->number;
        TRY(ledger_add(rounds->ledger, LINE_UNIT, &unit, err));
        rounds->next_unit++;
    }
    if (watch != NULL && watch->units_added != NULL) {
        watch->units_added(watch->user, rounds->now.units + had,
            rounds->now.units_count - had);
    }
    return NVBW_OK;
}

static int is_left_out(const struct record *record)
{
    return record->state == STATE_SKIP && record->reason != NULL &&
           strcmp(record->reason, "excluded") == 0;
}

/* Of the first round's unit, what this round's does not have; each round has
 * the units of the first, in their order. */
static int32_t leave_out(
    struct rounds *rounds, uint32_t unit, struct error *err)
{
    for (uint32_t i = rounds->starts[unit]; i < rounds->starts[unit + 1]; i++) {
        const struct record *const was =
            &rounds->run->records[rounds->order[i]];

        if (is_left_out(was) && evidence_latest(&rounds->now, unit, was->metric,
                                    was->row, was->col) == NULL) {
            TRY(ledger_add(rounds->ledger, LINE_CELL, was, err));
        }
    }
    return NVBW_OK;
}

int32_t rounds_next(struct rounds *rounds, struct error *err)
{
    TRY(leave(rounds, err));

    const int is_planned = rounds_has_next(rounds);

    begin(rounds, rounds->number + 1);
    if (is_planned) {
        rounds->number = rounds->run->units[rounds->first_unit].round;
        TRY(take_planned(rounds, err));
    }
    if (!rounds_has_next(rounds)) {
        TRY(add_units(rounds, err));
    }
    for (uint32_t i = 0; rounds->number > 0 && i < rounds->now.units_count;
         i++) {
        TRY(leave_out(rounds, i, err));
    }
    return NVBW_OK;
}

/* ---- the whole run again ---- */

static int32_t read_back(struct rounds *rounds, struct error *err)
{
    const struct evidence *const baseline = rounds->run->baseline;
    struct evidence whole;

    TRY(journal_read_back(rounds->journal, rounds->run_arena, &whole, err));
    *rounds->run = whole;
    rounds->run->baseline = baseline;
    return NVBW_OK;
}

int32_t rounds_gather(struct rounds *rounds, struct error *err)
{
    int32_t status = NVBW_OK;

    if (rounds->left > 0) {
        /* What cannot be written is added from memory. */
        (void)journal_write(rounds->journal, NULL);
        status = read_back(rounds, err);
    }
    TRY(give(rounds, status < 0 ? NULL : err));
    return status;
}

void rounds_close(struct rounds *rounds)
{
    arena_clear(&rounds->arena);
}
