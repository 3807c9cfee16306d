/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "judge.h"

#include "accept.h"
#include "cells.h"
#include "diagnosis.h"
#include "findings.h"
#include "trend.h"
#include "unmatched.h"

static int32_t judge_units(const struct judging *judging, struct verdicts *out)
{
    const struct evidence *const evidence = judging->evidence;
    uint64_t planned = 0;
    uint32_t done = 0;

    for (uint32_t i = 0; i < evidence->units_count; i++) {
        planned += unit_cell_count(&evidence->units[i]);
    }
    out->list = arena_alloc(judging->arena, planned, sizeof *out->list);
    FAIL_IF(out->list == NULL || planned > UINT32_MAX, judging->err,
        NVBW_E_SYSTEM, "no memory to judge %llu cells",
        (unsigned long long)planned);
    for (uint32_t i = 0; i < evidence->units_count; i++) {
        TRY(cells_judge(judging, i, out->list + done));
        done += unit_cell_count(&evidence->units[i]);
    }
    out->count = done;
    return NVBW_OK;
}

/* `required = "no"` hides what a cell asks for, but never a plugin that broke
 * its contract. */
static int32_t exit_of(const struct verdict *verdict)
{
    const struct reason *const reason =
        reason_find(verdict->state, verdict->reason);

    return reason != NULL && reason->kind == REASON_CONTRACT
               ? EXIT_CONTRACT
               : (int32_t)verdict->exit_code;
}

static void sum_up(const struct evidence *evidence, struct verdicts *out)
{
    /* A run in which nothing was planned has shown nothing. */
    out->exit_code = out->count == 0 ? EXIT_INCOMPLETE : EXIT_PASSED;
    for (uint32_t i = 0; i < out->count; i++) {
        out->by_state[out->list[i].state]++;
        out->exit_code = outcome_worse(out->exit_code, exit_of(&out->list[i]));
    }
    for (uint32_t i = 0; i < out->findings_count; i++) {
        out->exit_code =
            outcome_worse(out->exit_code, (int32_t)out->findings[i].exit_code);
    }
    if (evidence->ended && evidence->end.interrupted) {
        out->exit_code = outcome_worse(out->exit_code, EXIT_INCOMPLETE);
    }
}

int32_t judge_run(const struct evidence *evidence, struct arena *arena,
    struct verdicts *out, struct error *err)
{
    const struct judging judging = { evidence, arena, err };

    *out = (struct verdicts){ 0 };
    TRY(judge_units(&judging, out));
    TRY(findings_add(&judging, out));
    TRY(trends_add(&judging, out));
    TRY(diagnosis_add(&judging, out));
    TRY(accept_apply(&judging, out));
    TRY(unmatched_add(&judging, out));
    sum_up(evidence, out);
    return NVBW_OK;
}

int32_t judge_unit(const struct evidence *evidence, uint32_t unit,
    struct arena *arena, uint32_t **out_cells, uint32_t *out_count,
    struct error *err)
{
    const struct judging judging = { evidence, arena, err };

    *out_count = 0;
    FAIL_IF(unit >= evidence->units_count, err, NVBW_E_INVALID,
        "there is no unit %u", unit);

    const uint32_t count = unit_cell_count(&evidence->units[unit]);
    struct verdict *const list = arena_alloc(arena, count, sizeof *list);

    *out_cells = arena_alloc(arena, count, sizeof **out_cells);
    FAIL_IF(list == NULL || *out_cells == NULL, err, NVBW_E_SYSTEM,
        "no memory to judge");
    TRY(cells_judge(&judging, unit, list));
    for (uint32_t i = 0; i < count; i++) {
        if (list[i].state == STATE_FAIL &&
            list[i].attempts <= evidence->units[unit].confirm) {
            (*out_cells)[(*out_count)++] = list[i].cell;
        }
    }
    return NVBW_OK;
}
