/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "monitor_cells.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void monitor_cell_begin(struct monitored *gpu, uint32_t position)
{
    gpu->in_flight = 1;
    gpu->others_count = 0;
    gpu->first.now_ns = 0;
    gpu->window.now_ns = 0;
    gpu_telemetry_init(&gpu->cell, position);
}

void monitor_cell_add(struct monitored *gpu, const struct gpu_reading *reading)
{
    if (gpu->first.now_ns == 0) {
        gpu->first = *reading;
        gpu->window = *reading;
    }
    gpu_telemetry_add(&gpu->cell, &gpu->first, reading);
}

static void add_other(
    char (*list)[MONITOR_OTHER_BYTES], uint32_t *count, const char *process)
{
    for (uint32_t i = 0; i < *count; i++) {
        if (strcmp(list[i], process) == 0) {
            return;
        }
    }
    if (*count < MONITOR_OTHERS) {
        snprintf(list[(*count)++], MONITOR_OTHER_BYTES, "%.*s",
            MONITOR_OTHER_BYTES - 1, process);
    }
}

void monitor_cell_others(const struct telemetry_rules *rules,
    struct monitored *gpu, const struct gpu_reading *reading)
{
    gpu->now_others_count = 0;
    for (uint32_t i = 0; i < reading->processes_count; i++) {
        const char *const process = reading->processes[i];

        if (telemetry_rules_counts(rules, process)) {
            add_other(gpu->others, &gpu->others_count, process);
            add_other(gpu->now_others, &gpu->now_others_count, process);
        }
    }
}

static void word_throttling(const struct gpu_facts *gpu,
    const struct throttle_reason *reason, double share, char *out_text,
    size_t size)
{
    if (isnan(share)) {
        snprintf(out_text, size, "GPU %d was held down: %s", gpu->index,
            reason->words);
    } else {
        snprintf(out_text, size,
            "GPU %d was held down for %.0f %% of the time: %s", gpu->index,
            share * 100.0, reason->words);
    }
}

void monitor_cell_throttled(const struct telemetry_rules *rules,
    const struct facts *facts, struct monitored *gpus,
    const struct readings_frame *frame, char *out_text, size_t size)
{
    out_text[0] = '\0';
    for (uint32_t i = 0; i < frame->readings_count; i++) {
        const struct gpu_reading *const reading = &frame->readings[i];
        struct monitored *const gpu = &gpus[reading->gpu];
        double share = NAN;
        const struct throttle_reason *const reason =
            gpu->window.now_ns == 0 ? NULL
                                    : telemetry_throttled(&gpu->window, reading,
                                          rules->throttled, &share);

        gpu->window = *reading;
        gpu->window.processes = NULL;
        gpu->window.processes_count = 0;
        if (reason != NULL && reason->grave && out_text[0] == '\0') {
            word_throttling(
                &facts->gpus[reading->gpu], reason, share, out_text, size);
        }
    }
}

/* ---- joining ---- */

static int32_t add_flag(struct arena *arena, struct record *record,
    const char *flag, struct error *err)
{
    const char **const list =
        arena_alloc(arena, (size_t)record->flags_count + 1, sizeof *list);

    FAIL_IF(list == NULL, err, NVBW_E_SYSTEM, "no memory for a flag");
    for (uint32_t i = 0; i < record->flags_count; i++) {
        if (strcmp(record->flags[i], flag) == 0) {
            return NVBW_OK;
        }
        list[i] = record->flags[i];
    }
    list[record->flags_count++] = flag;
    record->flags = list;
    return NVBW_OK;
}

/* By the time that was counted, or by the bit where nothing counts it. */
static int is_power_capped(
    const struct telemetry_rules *rules, const struct monitored *gpu)
{
    if (isnan(gpu->first.power_cap_ns)) {
        return (gpu->cell.reasons & REASON_BIT_POWER_CAP) != 0;
    }
    return gpu->cell.power_cap_ns >
           rules->throttled * (double)gpu->cell.span_ns;
}

static int32_t join_gpu(const struct telemetry_rules *rules,
    struct monitored *gpu, struct arena *arena, struct record *record,
    struct error *err)
{
    struct gpu_telemetry *const out =
        &record->telemetry[record->telemetry_count++];

    *out = gpu->cell;
    out->processes = arena_alloc(arena, MONITOR_OTHERS, sizeof *out->processes);
    FAIL_IF(
        out->processes == NULL, err, NVBW_E_SYSTEM, "no memory for telemetry");
    for (uint32_t i = 0; i < gpu->others_count; i++) {
        out->processes[out->processes_count++] = gpu->others[i];
    }
    if (gpu->others_count > 0) {
        TRY(add_flag(arena, record, "busy", err));
    }
    return is_power_capped(rules, gpu)
               ? add_flag(arena, record, "power_capped", err)
               : NVBW_OK;
}

int32_t monitor_cell_join(const struct telemetry_rules *rules,
    struct monitored *gpus, uint32_t gpus_count, struct arena *arena,
    struct record *record, struct error *err)
{
    record->telemetry_count = 0;
    record->telemetry = arena_alloc(
        arena, (size_t)record->gpus_count + 1, sizeof *record->telemetry);
    FAIL_IF(record->telemetry == NULL, err, NVBW_E_SYSTEM,
        "no memory for telemetry");
    for (uint32_t i = 0; i < record->gpus_count; i++) {
        if (record->gpus[i] < gpus_count && gpus[record->gpus[i]].in_flight &&
            gpus[record->gpus[i]].cell.readings > 0) {
            TRY(join_gpu(rules, &gpus[record->gpus[i]], arena, record, err));
        }
    }
    return NVBW_OK;
}
