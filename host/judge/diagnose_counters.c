/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Errors that GPUs counted while the run lasted, from the series of readings:
 * health, whatever the figures are. */
#include <math.h>
#include <string.h>

#include "diagnosis.h"
#include "telemetry_rules.h"

enum { COUNTERS_OF_RULE = 3 };

/* How much a counter of a GPU rose; NaN where it was never read. A reading that
 * begins a series says only where it begins. */
static double rise_of(
    const struct evidence *evidence, uint32_t gpu, uint32_t counter)
{
    double sum = NAN;
    double before = NAN;

    for (uint32_t i = 0; i < evidence->readings_count; i++) {
        const struct gpu_reading *const reading = &evidence->readings[i];
        const double value = telemetry_get(reading, counter);

        if (reading->gpu != gpu || isnan(value)) {
            continue;
        }
        if (!reading->first && value > before) {
            sum = fmax(sum, 0.0) + value - before;
        }
        before = value;
    }
    return sum;
}

static const struct telemetry_value *find(const char *name)
{
    for (const struct telemetry_value *at = telemetry_counters;
         at->name != NULL; at++) {
        if (strcmp(at->name, name) == 0) {
            return at;
        }
    }
    return NULL;
}

/* "873 PCIe replays where 16 are tolerated", added to text; NULL: nothing. */
static const char *add_sight(const struct diagnosis *diagnosis,
    const struct telemetry_rules *rules, uint32_t gpu, const char *counter,
    const char *text)
{
    const struct telemetry_value *const value = find(counter);
    const double most = telemetry_rules_most(rules, counter);
    const double rise =
        rise_of(diagnosis->judging->evidence, gpu, value->in_reading);

    if (!(rise > most)) {
        return text;
    }
    return arena_format(diagnosis->judging->arena,
        "%s%s%.0f %s where %.0f are tolerated", text == NULL ? "" : text,
        text == NULL ? "" : ", ", rise, value->words, most);
}

static int32_t look_counters(struct diagnosis *diagnosis,
    const struct diagnosis_rule *rule,
    const char *const counters[COUNTERS_OF_RULE])
{
    struct telemetry_rules rules;

    telemetry_rules_read(&diagnosis->judging->evidence->plan, &rules);
    for (uint32_t i = 0; i < diagnosis->facts->gpus_count; i++) {
        const char *seen = NULL;

        for (int k = 0; k < COUNTERS_OF_RULE && counters[k] != NULL; k++) {
            seen = add_sight(diagnosis, &rules, i, counters[k], seen);
        }
        if (seen != NULL) {
            TRY(diagnosis_report(diagnosis, rule, (int32_t)i, -1, NULL, seen));
        }
    }
    return NVBW_OK;
}

static int32_t look_pcie(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    static const char *const counters[COUNTERS_OF_RULE] = { "pcie_replays" };

    return look_counters(diagnosis, rule, counters);
}

static int32_t look_nvlink(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    static const char *const counters[COUNTERS_OF_RULE] = { "nvlink_replays",
        "nvlink_recoveries", "nvlink_crc" };

    return look_counters(diagnosis, rule, counters);
}

static int32_t look_memory(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    static const char *const counters[COUNTERS_OF_RULE] = { "ecc_corrected",
        "ecc_uncorrected", "rows_remapped" };

    return look_counters(diagnosis, rule, counters);
}

/* Watch workers count them from when they ask to be told, the host over all of
 * a run's: what the first reading has came in this run. NaN where they are not
 * told. */
static double xids_of(const struct evidence *evidence, uint32_t gpu)
{
    double sum = NAN;
    double before = 0.0;

    for (uint32_t i = 0; i < evidence->readings_count; i++) {
        const struct gpu_reading *const reading = &evidence->readings[i];

        if (reading->gpu != gpu || isnan(reading->xids)) {
            continue;
        }
        before = reading->first ? 0.0 : before;
        sum = fmax(sum, 0.0) + reading->xids - before;
        before = reading->xids;
    }
    return sum;
}

/* The number of the last one, 0: none. */
static uint32_t last_xid(const struct evidence *evidence, uint32_t gpu)
{
    for (uint32_t i = evidence->readings_count; i > 0; i--) {
        const struct gpu_reading *const reading = &evidence->readings[i - 1];

        if (reading->gpu == gpu && reading->last_xid != 0) {
            return reading->last_xid;
        }
    }
    return 0;
}

static int32_t look_xids(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    const struct evidence *const evidence = diagnosis->judging->evidence;
    struct telemetry_rules rules;

    telemetry_rules_read(&evidence->plan, &rules);
    for (uint32_t i = 0; i < diagnosis->facts->gpus_count; i++) {
        if (xids_of(evidence, i) > telemetry_rules_most(&rules, "xids")) {
            TRY(diagnosis_report(diagnosis, rule, (int32_t)i, -1, NULL,
                arena_format(diagnosis->judging->arena, "Xid %u",
                    last_xid(evidence, i))));
        }
    }
    return NVBW_OK;
}

static const struct diagnosis_rule rules[] = {
    { .id = "pcie_replays",
        .looks_at = "replays of the PCIe link during the run",
        .look = look_pcie,
        .sentence = "had to repeat packets on its PCIe link",
        .action = "reseat the card and its riser or cable, then try another "
                  "slot",
        .next = "`nvidia-smi -q` counts replays under PCI; `lspci -vv` shows "
                "the errors of both ends of the link",
        .exit_code = EXIT_HEALTH },
    { .id = "nvlink_errors",
        .looks_at = "replays, recoveries and CRC errors of NVLinks during the "
                    "run",
        .look = look_nvlink,
        .sentence = "counted errors on its NVLinks",
        .action = "reseat the GPU or its bridge, look at the switch, and drain "
                  "the GPU if it goes on",
        .next = "`nvidia-smi nvlink -e` names the link",
        .exit_code = EXIT_HEALTH },
    { .id = "memory_errors",
        .looks_at = "ECC errors and remapped rows during the run",
        .look = look_memory,
        .sentence = "counted errors of its memory",
        .action = "drain the GPU and run the vendor's diagnostics",
        .next = "`nvidia-smi -q -d ECC,ROW_REMAPPER`",
        .exit_code = EXIT_HEALTH },
    { .id = "xid",
        .looks_at = "Xid events during the run",
        .look = look_xids,
        .sentence = "reported a critical error",
        .action = "look its number up in the kernel log and do what the "
                  "driver's list of Xids says",
        .next = "`dmesg | grep -i xid`",
        .exit_code = EXIT_HEALTH },
};

const struct diagnosis_family diagnose_counters = { "errors counted", rules,
    sizeof rules / sizeof rules[0] };
