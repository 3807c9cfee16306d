/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "unit_taint.h"

#include <stdio.h>
#include <string.h>

#include "health.h"
#include "interview.h"
#include "state.h"

/* A worker that had to be left behind, or that says that its GPU is of no use
 * to it any more. */
static int is_gpu_in_doubt(const struct worker_end *end)
{
    return end->abandoned ||
           (end->has_bye && strcmp(end->bye_why, "poisoned") == 0);
}

int32_t unit_taint_check(struct unit_run *run, struct error *err)
{
    struct conductor *const conductor = run->conductor;

    if (!is_gpu_in_doubt(&conductor->runner.worker.end) ||
        conductor->crew.signals > 0 || conductor->mpi) {
        return NVBW_OK;
    }

    const int is_known = run->gpus_count > 0;

    return health_check(conductor->request->setup, &conductor->crew,
        &conductor->ledger, is_known ? run->gpus : run->unit->gpus,
        is_known ? run->gpus_count : run->unit->gpus_count, &conductor->taint,
        err);
}

/* A recorded run that fails leaves the cell's place on its axes to tell. */
int32_t unit_taint_record(struct unit_run *run, struct error *err)
{
    struct conductor *const conductor = run->conductor;
    struct cause cause;

    if (conductor->taint.count == 0 || run->recording != NULL) {
        return NVBW_OK;
    }

    struct recording *const recording =
        arena_alloc(run->arena, 1, sizeof *recording);

    FAIL_IF(recording == NULL, err, NVBW_E_SYSTEM, "no memory for flows");
    TRY(interview_record(conductor->request->setup, &conductor->crew,
        &conductor->request->evidence->facts, run->unit, run->arena, recording,
        &cause, err));
    run->recording = recording;
    return NVBW_OK;
}

int32_t unit_taint_block(struct unit_run *run, struct error *err)
{
    const struct facts *const facts = &run->conductor->request->evidence->facts;

    TRY(unit_taint_record(run, err));
    for (int32_t cell = wanted_next(&run->wanted, 0); cell >= 0;
         cell = wanted_next(&run->wanted, (uint32_t)cell + 1)) {
        const int32_t gpu = taint_blocks(
            &run->conductor->taint, run->unit, (uint32_t)cell, run->recording);
        struct cause cause = { .state = STATE_BLOCKED, .reason = "tainted" };

        if (gpu < 0) {
            continue;
        }
        snprintf(cause.text, sizeof cause.text,
            "GPU %d stopped responding earlier in the run",
            facts->gpus[gpu].index);
        wanted_remove(&run->wanted, (uint32_t)cell);
        TRY(ledger_settle(&run->conductor->ledger, run->unit, run->attempt,
            (uint32_t)cell, &cause, err));
    }
    return NVBW_OK;
}
