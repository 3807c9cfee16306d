/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A GPU whose clocks are held down: kernels and memory are slow, while copy
 * engines reach what links carry. */
#include <math.h>
#include <string.h>

#include "diagnosis.h"

enum {
    OF_CLOCKS =
        1u << ASPECT_HOST_SM | 1u << ASPECT_PEER_SM | 1u << ASPECT_LOCAL,
    OF_ALL = OF_CLOCKS | 1u << ASPECT_HOST | 1u << ASPECT_PEER
};

static int is_low(
    const struct diagnosis *diagnosis, uint32_t gpu, enum aspect aspect)
{
    return suspects_is_low(&diagnosis->suspects, gpu, aspect, SUSPECT_QUIET);
}

static int32_t report(struct diagnosis *diagnosis,
    const struct diagnosis_rule *rule, uint32_t gpu, enum aspect aspect,
    uint32_t explains)
{
    suspects_explain(&diagnosis->suspects, gpu, explains);
    return diagnosis_report(diagnosis, rule, (int32_t)gpu, -1, NULL,
        diagnosis_sight(
            diagnosis, suspects_of(&diagnosis->suspects, gpu, aspect)));
}

static int is_throttled(const struct verdict *verdict)
{
    return verdict->state == STATE_INVALID && verdict->reason != NULL &&
           strcmp(verdict->reason, "throttled") == 0;
}

/* The only GPU of a cell, or -1. */
static int32_t only_gpu(
    const struct diagnosis *diagnosis, const struct verdict *verdict)
{
    const struct record *const record = verdict->record;

    return record != NULL && record->gpus_count == 1 &&
                   record->gpus[0] < diagnosis->facts->gpus_count
               ? (int32_t)record->gpus[0]
               : -1;
}

/* The first throttled cell of this GPU alone. */
static const struct verdict *throttled_cell(
    const struct diagnosis *diagnosis, uint32_t gpu)
{
    const struct verdicts *const out = diagnosis->out;

    for (uint32_t i = 0; i < out->count; i++) {
        if (is_throttled(&out->list[i]) &&
            only_gpu(diagnosis, &out->list[i]) == (int32_t)gpu) {
            return &out->list[i];
        }
    }
    return NULL;
}

static int some_name_gpus(const struct diagnosis *diagnosis)
{
    const struct verdicts *const out = diagnosis->out;

    for (uint32_t i = 0; i < out->count; i++) {
        if (is_throttled(&out->list[i]) && out->list[i].record != NULL &&
            out->list[i].record->gpus_count > 0) {
            return 1;
        }
    }
    return 0;
}

/* 1 if the cell says nothing that is not told elsewhere: one of its GPUs was
 * throttled in a cell of its own, which tells more. */
static int is_told(
    const struct diagnosis *diagnosis, const struct verdict *verdict)
{
    const struct record *const record = verdict->record;

    /* A cell that was computed from others names no GPU. */
    if (record == NULL || record->gpus_count == 0) {
        return some_name_gpus(diagnosis);
    }
    for (uint32_t i = 0; i < record->gpus_count; i++) {
        if (record->gpus[i] < diagnosis->facts->gpus_count &&
            throttled_cell(diagnosis, record->gpus[i]) != NULL) {
            return 1;
        }
    }
    return 0;
}

/* Cells that the run itself found throttled: each GPU once, then once what
 * only cells of several GPUs show. */
static int32_t look_seen(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    const struct verdicts *const out = diagnosis->out;

    for (uint32_t i = 0; i < diagnosis->facts->gpus_count; i++) {
        const struct verdict *const cell = throttled_cell(diagnosis, i);

        if (cell != NULL) {
            suspects_explain(&diagnosis->suspects, i, OF_ALL);
            TRY(diagnosis_report(
                diagnosis, rule, (int32_t)i, -1, NULL, cell->message));
        }
    }
    for (uint32_t i = 0; i < out->count; i++) {
        const struct verdict *const cell = &out->list[i];

        if (is_throttled(cell) && !is_told(diagnosis, cell)) {
            return diagnosis_report(
                diagnosis, rule, -1, -1, NULL, cell->message);
        }
    }
    return NVBW_OK;
}

static int32_t look_slow_gpu(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    for (uint32_t i = 0; i < diagnosis->facts->gpus_count; i++) {
        if (is_low(diagnosis, i, ASPECT_LOCAL) &&
            is_low(diagnosis, i, ASPECT_HOST)) {
            TRY(report(diagnosis, rule, i, ASPECT_LOCAL, OF_ALL));
        }
    }
    return NVBW_OK;
}

static int32_t look_clocks(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    static const enum aspect aspects[] = { ASPECT_LOCAL, ASPECT_HOST_SM,
        ASPECT_PEER_SM };

    for (uint32_t i = 0; i < diagnosis->facts->gpus_count; i++) {
        for (size_t j = 0; j < sizeof aspects / sizeof aspects[0]; j++) {
            if (is_low(diagnosis, i, aspects[j])) {
                TRY(report(diagnosis, rule, i, aspects[j], OF_CLOCKS));
            }
        }
    }
    return NVBW_OK;
}

static const struct diagnosis_rule rules[] = {
    { .id = "throttled",
        .looks_at = "cells that end invalid because of throttling",
        .look = look_seen,
        .sentence = "was throttled while it was measured",
        .action = "look at cooling and power, then measure again",
        .next = "`nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER`" },
    { .id = "slow_gpu",
        .looks_at = "a GPU that is low in its memory and to the host",
        .look = look_slow_gpu,
        .sentence = "is slower than its siblings in everything",
        .action = "compare clocks, power limit and VBIOS with its siblings; "
                  "drain it if these are alike",
        .next = "`nvidia-smi -q -d CLOCK,POWER,PERFORMANCE`" },
    { .id = "slow_clocks",
        .looks_at = "a GPU whose kernels or memory are low, its copies not",
        .look = look_clocks,
        .sentence = "is slow in its own memory and kernels, as a GPU is whose "
                    "clocks are held down",
        .action = "look at cooling, power and clocks; drain it if it stays so",
        .next = "`nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER` under load "
                "names the reason" },
};

const struct diagnosis_family diagnose_throttle = { "throttling", rules,
    sizeof rules / sizeof rules[0] };
