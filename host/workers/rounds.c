/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "rounds.h"

#include "host_clock.h"
#include "quantity.h"
#include "state.h"

uint64_t rounds_end_ns(const struct evidence *evidence)
{
    const struct plan_value *const value =
        plan_option(&evidence->plan, "duration");
    const uint64_t started_ns = evidence->header.started_ns;
    uint64_t span_ns = 0;

    /* plan_check has tried the value before. */
    if (value == NULL || value->texts_count == 0 ||
        quantity_duration(value->texts[0], &span_ns, NULL) < 0 ||
        started_ns > host_clock_ns()) {
        return 0;
    }
    return host_clock_after(started_ns, span_ns);
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
