/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Other load on the machine. */
#include "diagnosis.h"

/* 1 if a cell of this GPU failed, or figures of it are low by whatever
 * cause. */
static int is_worse(const struct diagnosis *diagnosis, uint32_t gpu)
{
    const struct verdicts *const out = diagnosis->out;

    for (int i = 0; i < ASPECT_COUNT; i++) {
        const double least = i == ASPECT_CROWD ? SUSPECT_CROWD : SUSPECT_QUIET;

        if (suspects_of(&diagnosis->suspects, gpu, (enum aspect)i)->ratio <
            least) {
            return 1;
        }
    }
    for (uint32_t i = 0; i < out->count; i++) {
        const struct record *const record = out->list[i].record;

        for (uint32_t j = 0;
             record != NULL && out->list[i].state == STATE_FAIL &&
             j < record->gpus_count;
             j++) {
            if (record->gpus[j] == gpu) {
                return 1;
            }
        }
    }
    return 0;
}

static int32_t look_busy(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    for (uint32_t i = 0; i < diagnosis->facts->gpus_count; i++) {
        const struct gpu_facts *const gpu = &diagnosis->facts->gpus[i];

        if (gpu->processes_count > 0 && is_worse(diagnosis, i)) {
            TRY(diagnosis_report(diagnosis, rule, (int32_t)i, -1, NULL,
                arena_format(diagnosis->judging->arena, "%s%s",
                    gpu->processes[0],
                    gpu->processes_count > 1 ? " and others" : "")));
        }
    }
    return NVBW_OK;
}

static const struct diagnosis_rule rules[] = {
    { .id = "busy",
        .looks_at = "other processes on GPUs whose figures are low",
        .look = look_busy,
        .sentence = "is used by others",
        .action = "stop them and measure again before anything is replaced",
        .next = "with expect = { idle = true; } a run measures nothing and "
                "exits with 3 while others use a GPU" },
};

const struct diagnosis_family diagnose_others = { "other load", rules,
    sizeof rules / sizeof rules[0] };
