/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include <string.h>

#include "gpu.h"
#include "peers.h"
#include "session.h"
#include "state.h"

void settle_record(struct arena *arena, struct record *record, uint32_t state,
    const char *code, const struct error *err)
{
    if (record->state != STATE_NONE) {
        return;
    }
    record->state = state;
    record->reason = code;
    if (err != NULL) {
        record->message = arena_text(arena, err->text);
        record->code = err->code;
    }
}

void settle_session(struct session *session, uint32_t state, const char *code,
    const struct error *err)
{
    for (uint32_t i = 0; i < session->targets_count; i++) {
        settle_record(
            session->arena, session->targets[i].record, state, code, err);
    }
}

static const struct settle_row {
    int32_t status;
    uint32_t state;
    const char *code;
} settle_rows[] = {
    { NVBW_E_INVALID, STATE_ERROR, "contract" },
    { NVBW_E_CUDA, STATE_ERROR, "driver" },
    { NVBW_E_SYSTEM, STATE_ERROR, "system" },
    { NVBW_E_DEVICE, STATE_MISMATCH, "wrong_data" },
    { GPU_E_FACTS_CHANGED, STATE_ERROR, "facts_changed" },
    { PEERS_E_LOST, STATE_ERROR, "rank_lost" },
};

void settle_failed(struct session *session, const struct error *err)
{
    if (err->status == NVBW_E_SKIPPED) {
        const char *const code = name_of(skip_names, (uint32_t)err->code);
        struct error plain = *err;

        plain.code = 0;
        settle_session(
            session, STATE_SKIP, code != NULL ? code : "not_built", &plain);
        return;
    }
    for (size_t i = 0; i < sizeof settle_rows / sizeof *settle_rows; i++) {
        if (settle_rows[i].status == err->status) {
            settle_session(
                session, settle_rows[i].state, settle_rows[i].code, err);
            return;
        }
    }
    settle_session(session, STATE_ERROR, "system", err);
}

void settle_flag(struct arena *arena, struct record *record, const char *flag)
{
    for (uint32_t i = 0; i < record->flags_count; i++) {
        if (strcmp(record->flags[i], flag) == 0) {
            return;
        }
    }

    const char **const flags = arena_append(
        arena, record->flags, &record->flags_count, sizeof *record->flags);

    if (flags != NULL) {
        flags[record->flags_count - 1] = flag;
        record->flags = flags;
    }
}
