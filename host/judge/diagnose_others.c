/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Other load on the machine. */
#include <string.h>

#include "diagnosis.h"
#include "telemetry_rules.h"

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

static void count_others(const struct telemetry_rules *rules,
    const char *const *processes, uint32_t processes_count,
    const char **out_first, uint32_t *out_count)
{
    for (uint32_t i = 0; i < processes_count; i++) {
        if (!telemetry_rules_counts(rules, processes[i]) ||
            (*out_first != NULL && strcmp(*out_first, processes[i]) == 0)) {
            continue;
        }
        *out_first = *out_first == NULL ? processes[i] : *out_first;
        ++*out_count;
    }
}

/* Who used the GPU before the run or while a cell was measured, or NULL. */
static const char *first_other(
    const struct diagnosis *diagnosis, uint32_t gpu, uint32_t *out_count)
{
    const struct evidence *const evidence = diagnosis->judging->evidence;
    const struct gpu_facts *const facts = &diagnosis->facts->gpus[gpu];
    struct telemetry_rules rules;
    const char *first = NULL;

    telemetry_rules_read(&evidence->plan, &rules);
    count_others(&rules, (const char *const *)facts->processes,
        facts->processes_count, &first, out_count);
    for (uint32_t i = 0; i < evidence->records_count; i++) {
        const struct record *const record = &evidence->records[i];

        for (uint32_t k = 0; k < record->telemetry_count; k++) {
            const struct gpu_telemetry *const seen = &record->telemetry[k];

            if (seen->gpu == gpu) {
                count_others(&rules, (const char *const *)seen->processes,
                    seen->processes_count, &first, out_count);
            }
        }
    }
    return first;
}

static int32_t look_busy(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    for (uint32_t i = 0; i < diagnosis->facts->gpus_count; i++) {
        uint32_t count = 0;
        const char *const first = first_other(diagnosis, i, &count);

        if (first != NULL && is_worse(diagnosis, i)) {
            TRY(diagnosis_report(diagnosis, rule, (int32_t)i, -1, NULL,
                arena_format(diagnosis->judging->arena, "%s%s", first,
                    count > 1 ? " and others" : "")));
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
