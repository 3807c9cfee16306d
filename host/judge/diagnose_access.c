/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* How the bytes are asked for: too few at a time to fill a link. */
#include "diagnosis.h"

#include "quantity.h"

/* Each size of a sweep is a unit of its own: what fails small and never large
 * tells of the pattern, not of the machine. */
static int32_t look_small(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    const struct verdicts *const out = diagnosis->out;
    const struct verdict *first = NULL;
    uint32_t count = 0;

    for (uint32_t i = 0; i < out->count; i++) {
        const struct verdict *const verdict = &out->list[i];

        if (verdict->state != STATE_FAIL || verdict->record == NULL ||
            !(verdict->theoretical > 0.0) || verdict->limit_is_max ||
            verdict->record->copy_bytes == 0) {
            continue;
        }
        if (verdict->record->copy_bytes >= SUSPECT_COPY_BYTES) {
            return NVBW_OK;
        }
        first = first == NULL ? verdict : first;
        count++;
    }
    if (count == 0) {
        return NVBW_OK;
    }

    char size[32];

    quantity_format_size(first->record->copy_bytes, size, sizeof size);
    return diagnosis_report(diagnosis, rule, -1, -1,
        arena_format(diagnosis->judging->arena, "%u cell%s", count,
            count == 1 ? "" : "s"),
        arena_format(diagnosis->judging->arena, "%s at a time (%s)", size,
            diagnosis->judging->evidence->units[first->unit].testcase));
}

static const struct diagnosis_rule rules[] = {
    { .id = "small_copies",
        .looks_at = "failing bandwidths, all of them of copies under 1 MiB",
        .look = look_small,
        .sentence = "failed with copies too small to fill a link",
        .action = "raise buffer_size: each copy costs some microseconds "
                  "whatever its size",
        .next = "a sweep of buffer_size shows from where the link is full" },
};

const struct diagnosis_family diagnose_access = { "access pattern", rules,
    sizeof rules / sizeof rules[0] };
