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

int rounds_last_measured(const struct evidence *evidence)
{
    const uint32_t units = evidence->units_count;

    for (uint32_t i = evidence->records_count; i > 0; i--) {
        const struct record *const record = &evidence->records[i - 1];

        if (record->state == STATE_MEASURED && record->unit < units &&
            evidence->units[record->unit].round ==
                evidence->units[units - 1].round) {
            return 1;
        }
    }
    return 0;
}

int32_t rounds_add(
    struct ledger *ledger, struct evidence *evidence, struct error *err)
{
    const uint32_t count = evidence->units_count;
    const uint32_t round =
        count == 0 ? 0 : evidence->units[count - 1].round + 1;

    for (uint32_t i = 0; i < count && evidence->units[i].round == 0; i++) {
        struct unit unit = evidence->units[i];

        unit.id = evidence->units_count;
        unit.round = round;
        TRY(ledger_add(ledger, LINE_UNIT, &unit, err));
    }
    return NVBW_OK;
}

static int is_same(const char *one, const char *other)
{
    return one == other ||
           (one != NULL && other != NULL && strcmp(one, other) == 0);
}

/* The unit of the first round that this one repeats, or NULL. */
static const struct unit *first_of(
    const struct evidence *evidence, const struct unit *unit)
{
    for (uint32_t i = 0; i < evidence->units_count; i++) {
        const struct unit *const first = &evidence->units[i];

        if (first->round == 0 && first->suite == unit->suite &&
            is_same(first->testcase, unit->testcase) &&
            is_same(first->sweep, unit->sweep)) {
            return first;
        }
    }
    return NULL;
}

int32_t rounds_leave_out(struct ledger *ledger, struct evidence *evidence,
    uint32_t number, struct error *err)
{
    const struct unit *const unit = &evidence->units[number];
    const struct unit *const first =
        unit->round == 0 ? NULL : first_of(evidence, unit);
    struct cell_place place;

    for (uint32_t cell = 0; first != NULL && cell < unit_cell_span(first);
         cell++) {
        if (!unit_cell_at(first, cell, &place)) {
            continue;
        }

        const char *const metric = first->shapes[place.shape].metric;
        const struct record *const was =
            evidence_cell(evidence, first->id, metric, place.row, place.col);

        if (was == NULL || was->state != STATE_SKIP ||
            !is_same(was->reason, "excluded") ||
            evidence_cell(evidence, unit->id, metric, place.row, place.col) !=
                NULL) {
            continue;
        }

        struct record record = *was;

        record.unit = unit->id;
        TRY(ledger_add(ledger, LINE_CELL, &record, err));
    }
    return NVBW_OK;
}
