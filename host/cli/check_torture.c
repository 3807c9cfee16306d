/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "check_torture.h"

/* So that a plugin that hangs each time costs one hang and not hundreds. */
enum { TORTURE_BATCH = 8 };

uint32_t check_torture_calls(uint32_t calls, uint32_t out_calls[TORTURE_LIMIT])
{
    const uint32_t rest = calls > TORTURE_FIRST ? calls - TORTURE_FIRST : 0;
    const uint32_t more = rest < TORTURE_MORE ? rest : TORTURE_MORE;
    uint32_t count = 0;

    for (uint32_t call = 1; call <= calls && call <= TORTURE_FIRST; call++) {
        out_calls[count++] = call;
    }
    for (uint32_t i = 1; i <= more; i++) {
        out_calls[count++] =
            TORTURE_FIRST + (uint32_t)((uint64_t)rest * i / more);
    }
    return count;
}

static const char *describe_fault(
    const struct torture *torture, struct arena *arena)
{
    return arena_format(arena,
        "call %u of the host, %s(), was made to fail: %s", torture->call,
        torture->name[0] != '\0' ? torture->name : "unknown", torture->fault);
}

int32_t check_torture(const struct worker_setup *setup,
    const struct facts *facts, const struct unit *unit, uint32_t calls,
    struct arena *arena, const char **out_fault, struct error *err)
{
    uint32_t numbers[TORTURE_LIMIT];
    const uint32_t count = check_torture_calls(calls, numbers);

    *out_fault = NULL;
    for (uint32_t done = 0; done < count; done += TORTURE_BATCH) {
        struct torture batch[TORTURE_BATCH] = { 0 };
        const uint32_t size =
            count - done < TORTURE_BATCH ? count - done : TORTURE_BATCH;

        for (uint32_t i = 0; i < size; i++) {
            batch[i].call = numbers[done + i];
        }
        TRY(workers_torture(setup, facts, unit, batch, size, err));
        for (uint32_t i = 0; i < size; i++) {
            if (batch[i].fault[0] != '\0') {
                *out_fault = describe_fault(&batch[i], arena);
                return NVBW_OK;
            }
        }
    }
    return NVBW_OK;
}
