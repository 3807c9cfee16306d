/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "diagnosis.h"

#include <math.h>
#include <string.h>

#include "quantity.h"

const struct diagnosis_family *const diagnosis_families[] = {
    &diagnose_link,
    &diagnose_peers,
    &diagnose_counters,
    &diagnose_memory,
    &diagnose_concurrency,
    &diagnose_access,
    &diagnose_throttle,
    &diagnose_trend,
    &diagnose_others,
    NULL,
};

static const char *family_of(const struct diagnosis_rule *rule)
{
    for (size_t i = 0; diagnosis_families[i] != NULL; i++) {
        const struct diagnosis_family *const family = diagnosis_families[i];

        for (uint32_t j = 0; j < family->count; j++) {
            if (&family->rules[j] == rule) {
                return family->name;
            }
        }
    }
    return NULL;
}

/* Of an MPI job a GPU is known by its rank and the rank's host. */
static const char *name_gpu(struct arena *arena, const struct gpu_facts *gpu)
{
    return gpu->host == NULL ? arena_format(arena, "GPU %d", gpu->index)
                             : arena_format(arena, "the GPU of rank %d (%s)",
                                   gpu->index, gpu->host);
}

static const char *subject_of(
    const struct diagnosis *diagnosis, int32_t gpu, int32_t peer)
{
    const struct gpu_facts *const gpus = diagnosis->facts->gpus;
    struct arena *const arena = diagnosis->judging->arena;

    if (gpu < 0) {
        return "this machine";
    }
    return peer < 0
               ? name_gpu(arena, &gpus[gpu])
               : arena_format(arena, "%s and %s", name_gpu(arena, &gpus[gpu]),
                     name_gpu(arena, &gpus[peer]));
}

int32_t diagnosis_report(struct diagnosis *diagnosis,
    const struct diagnosis_rule *rule, int32_t gpu, int32_t peer,
    const char *who, const char *seen)
{
    const struct judging *const judging = diagnosis->judging;
    struct verdicts *const out = diagnosis->out;
    const char *const name =
        who == NULL ? subject_of(diagnosis, gpu, peer) : who;
    const char *const sentence =
        who == NULL && gpu >= 0 && peer >= 0 && rule->of_two != NULL
            ? rule->of_two
            : rule->sentence;
    const char *const what =
        seen == NULL
            ? arena_format(judging->arena, "%s %s", name, sentence)
            : arena_format(judging->arena, "%s %s: %s", name, sentence, seen);
    struct finding *const list = arena_append(
        judging->arena, out->findings, &out->findings_count, sizeof *list);

    FAIL_IF(list == NULL || name == NULL || what == NULL, judging->err,
        NVBW_E_SYSTEM, "no memory to diagnose");
    out->findings = list;
    list[out->findings_count - 1] = (struct finding){ .id = rule->id,
        .family = family_of(rule),
        .gpu = gpu,
        .peer = peer,
        .what = what,
        .action = rule->action,
        .next = rule->next,
        .exit_code = (uint32_t)rule->exit_code };
    return NVBW_OK;
}

const char *diagnosis_sight(
    const struct diagnosis *diagnosis, const struct sight *sight)
{
    struct arena *const arena = diagnosis->judging->arena;
    char figure[32];
    char reference[32];

    if (isnan(sight->figure)) {
        return NULL;
    }
    quantity_format(
        sight->figure, NVBW_UNIT_BYTES_PER_SECOND, figure, sizeof figure);
    if (!isnan(sight->ratio)) {
        quantity_format(sight->reference, NVBW_UNIT_BYTES_PER_SECOND, reference,
            sizeof reference);
        return arena_format(arena, "%s where others have %s (%s)", figure,
            reference, sight->testcase);
    }
    if (!isnan(sight->utilisation)) {
        return arena_format(arena, "%s, %.0f %% of the link (%s)", figure,
            sight->utilisation * 100.0, sight->testcase);
    }
    return arena_format(arena, "%s (%s)", figure, sight->testcase);
}

const char *diagnosis_with_sight(const struct diagnosis *diagnosis,
    const char *text, uint32_t gpu, enum aspect aspect)
{
    const char *const sight = diagnosis_sight(
        diagnosis, suspects_of(&diagnosis->suspects, gpu, aspect));

    return sight == NULL || text == NULL
               ? text
               : arena_format(diagnosis->judging->arena, "%s; %s", text, sight);
}

int diagnosis_same_model(
    const struct gpu_facts *one, const struct gpu_facts *other)
{
    return one->name != NULL && other->name != NULL &&
           strcmp(one->name, other->name) == 0;
}

int32_t diagnosis_add(const struct judging *judging, struct verdicts *out)
{
    struct diagnosis diagnosis = {
        .judging = judging, .facts = &judging->evidence->facts, .out = out
    };

    if (diagnosis.facts->gpus_count == 0) {
        return NVBW_OK;
    }
    TRY(suspects_find(judging, out, &diagnosis.suspects));
    for (size_t i = 0; diagnosis_families[i] != NULL; i++) {
        const struct diagnosis_family *const family = diagnosis_families[i];

        for (uint32_t j = 0; j < family->count; j++) {
            TRY(family->rules[j].look(&diagnosis, &family->rules[j]));
        }
    }
    return NVBW_OK;
}
