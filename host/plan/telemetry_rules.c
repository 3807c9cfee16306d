/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "telemetry_rules.h"

#include <math.h>
#include <string.h>

#include "quantity.h"

enum { COMM_BYTES = 15, MS = 1000000 };

/* A link or memory that mends an error now and then is no fault; one that
 * needs a recovery or loses data is. */
const struct counter_rule counter_rules[] = {
    { "pcie_replays", "16" },
    { "nvlink_replays", "16" },
    { "nvlink_recoveries", "0" },
    { "nvlink_crc", "100" },
    { "ecc_corrected", "10" },
    { "ecc_uncorrected", "0" },
    { "rows_remapped", "0" },
    { "xids", "0" },
    { NULL, NULL },
};

/* Daemons that hold a GPU open and put no load on it. */
static const char *const harmless[] = {
    "nvidia-persistenced",
    "nv-fabricmanager",
    "nv-hostengine",
    "dcgm-exporter",
    "nvidia-smi",
    "nvidia-cuda-mps",
    "nvsm",
    "Xorg",
    "gnome-shell",
};

static const struct plan_value *find(const struct plan *plan, const char *key)
{
    for (uint32_t i = 0; i < plan->telemetry_count; i++) {
        if (strcmp(plan->telemetry[i].name, key) == 0) {
            return &plan->telemetry[i];
        }
    }
    return NULL;
}

/* The plan's text for a key, else the given one. */
static const char *text_of(
    const struct plan *plan, const char *key, const char *other)
{
    const struct plan_value *const value = find(plan, key);

    return value != NULL && value->texts_count > 0 ? value->texts[0] : other;
}

static uint64_t duration_of(
    const struct plan *plan, const char *key, const char *other)
{
    uint64_t ns = 0;

    quantity_duration(text_of(plan, key, other), &ns, NULL);
    return ns;
}

static double ratio_of(
    const struct plan *plan, const char *key, const char *other)
{
    double ratio = 0.0;

    quantity_real(text_of(plan, key, other), NVBW_UNIT_RATIO, &ratio, NULL);
    return ratio;
}

void telemetry_rules_read(const struct plan *plan, struct telemetry_rules *out)
{
    const struct plan_value *const ignore = find(plan, "ignore");
    int enabled = 1;

    quantity_bool(text_of(plan, "enabled", "true"), &enabled, NULL);
    *out = (struct telemetry_rules){
        .enabled = enabled != 0,
        .poll_ns = duration_of(plan, "poll", "500 ms"),
        .settle_ns = duration_of(plan, "settle", "5 s"),
        .throttled = ratio_of(plan, "throttled", "1 %"),
        .idle_percent = 100.0 * ratio_of(plan, "idle", "5 %"),
        .ignore = harmless,
        .ignore_count = sizeof harmless / sizeof harmless[0],
        .plan = plan,
    };
    if (out->poll_ns < 100 * (uint64_t)MS) {
        out->poll_ns = 100 * (uint64_t)MS;
    }
    if (ignore != NULL) {
        out->ignore = (const char *const *)ignore->texts;
        out->ignore_count = ignore->texts_count;
    }
}

double telemetry_rules_most(
    const struct telemetry_rules *rules, const char *counter)
{
    for (const struct counter_rule *rule = counter_rules; rule->key != NULL;
         rule++) {
        int64_t most = 0;

        if (strcmp(rule->key, counter) == 0) {
            quantity_int(
                text_of(rules->plan, counter, rule->most), &most, NULL);
            return (double)most;
        }
    }
    return INFINITY;
}

int telemetry_rules_counts(
    const struct telemetry_rules *rules, const char *process)
{
    const char *const blank = strchr(process, ' ');
    const char *const name = blank == NULL ? process : blank + 1;

    for (uint32_t i = 0; i < rules->ignore_count; i++) {
        const char *const given = rules->ignore[i];
        const size_t length = strlen(given);
        const size_t compared = length < COMM_BYTES ? length : COMM_BYTES;

        if (length > 0 && strncmp(name, given, compared) == 0) {
            return 0;
        }
    }
    return 1;
}
