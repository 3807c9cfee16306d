/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What gets worse from round to round of a burn-in. */
#include <stdio.h>

#include "diagnosis.h"
#include "trend.h"

static const struct unit *unit_of(
    const struct diagnosis *diagnosis, const struct trend *trend)
{
    return &diagnosis->judging->evidence->units[trend->unit];
}

/* The only GPU of the cell, or -1. */
static int32_t only_gpu(
    const struct diagnosis *diagnosis, const struct trend *trend)
{
    return trend->record->gpus_count == 1 &&
                   trend->record->gpus[0] < diagnosis->facts->gpus_count
               ? (int32_t)trend->record->gpus[0]
               : -1;
}

static int names_told(const struct diagnosis *diagnosis, const uint8_t *is_told,
    const struct trend *trend)
{
    for (uint32_t i = 0; i < trend->record->gpus_count; i++) {
        const uint32_t gpu = trend->record->gpus[i];

        if (gpu < diagnosis->facts->gpus_count && is_told[gpu]) {
            return 1;
        }
    }
    return 0;
}

/* The worst fall of this GPU alone; for -1 of several GPUs or of the host,
 * where no GPU was told that could be why. */
static const struct trend *worst_of(const struct diagnosis *diagnosis,
    const uint8_t *is_told, int32_t gpu, uint32_t *out_count)
{
    const struct verdicts *const out = diagnosis->out;
    const struct trend *worst = NULL;

    *out_count = 0;
    for (uint32_t i = 0; i < out->trends_count; i++) {
        const struct trend *const trend = &out->trends[i];

        if (!trend->is_fall || only_gpu(diagnosis, trend) != gpu ||
            (gpu < 0 && names_told(diagnosis, is_told, trend))) {
            continue;
        }
        *out_count += 1;
        if (worst == NULL || trend->change < worst->change) {
            worst = trend;
        }
    }
    return worst;
}

static int32_t report(struct diagnosis *diagnosis,
    const struct diagnosis_rule *rule, int32_t gpu, const struct trend *trend,
    uint32_t count)
{
    char others[64] = "";

    if (count > 1) {
        snprintf(others, sizeof others, ", and %u other cell%s", count - 1,
            count == 2 ? "" : "s");
    }
    return diagnosis_report(diagnosis, rule, gpu, -1, NULL,
        arena_format(diagnosis->judging->arena,
            "%s by %.1f %% (%.1f to %.1f) over %u rounds%s",
            unit_of(diagnosis, trend)->testcase, -trend->change * 100.0,
            -trend->high * 100.0, -trend->low * 100.0, trend->rounds, others));
}

/* Each GPU once; the worst of what several GPUs or the host show besides. */
static int32_t look_falls(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    const uint32_t gpus_count = diagnosis->facts->gpus_count;
    uint8_t *const is_told =
        arena_alloc(diagnosis->judging->arena, gpus_count, sizeof *is_told);
    uint32_t count = 0;

    FAIL_IF(is_told == NULL, diagnosis->judging->err, NVBW_E_SYSTEM,
        "no memory to diagnose");
    for (uint32_t i = 0; i < gpus_count; i++) {
        const struct trend *const worst =
            worst_of(diagnosis, is_told, (int32_t)i, &count);

        if (worst != NULL) {
            is_told[i] = 1;
            TRY(report(diagnosis, rule, (int32_t)i, worst, count));
        }
    }

    const struct trend *const shared = worst_of(diagnosis, is_told, -1, &count);

    return shared == NULL ? NVBW_OK
                          : report(diagnosis, rule, -1, shared, count);
}

static const struct diagnosis_rule rules[] = {
    { .id = "falls",
        .looks_at = "a slope over the rounds of `repeat` or `duration`",
        .look = look_falls,
        .sentence = "gets slower from round to round",
        .action = "look at cooling, power and the link's errors over time; "
                  "drain it if it goes on",
        .next = "`nvidia-smi dmon -s pucet` beside the next burn-in shows what "
                "rises with it" },
};

const struct diagnosis_family diagnose_trend = { "trend", rules,
    sizeof rules / sizeof rules[0] };
