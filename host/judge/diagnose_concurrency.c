/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What goes wrong only when several things move at once. */
#include <math.h>
#include <string.h>

#include "diagnosis.h"
#include "quantity.h"
#include "traffic_class.h"

static int32_t look_serialised(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    const struct verdicts *const out = diagnosis->out;
    const char *testcase = NULL;
    uint32_t count = 0;

    for (uint32_t i = 0; i < out->count; i++) {
        const struct verdict *const verdict = &out->list[i];

        if (verdict->state == STATE_INVALID && verdict->reason != NULL &&
            strcmp(verdict->reason, "serialised") == 0) {
            testcase =
                diagnosis->judging->evidence->units[verdict->unit].testcase;
            count++;
        }
    }
    return count == 0 ? NVBW_OK
                      : diagnosis_report(diagnosis, rule, -1, -1, NULL,
                            arena_format(diagnosis->judging->arena,
                                "%u cell%s, among them of %s", count,
                                count == 1 ? "" : "s", testcase));
}

/* ---- a shared uplink ---- */

static int is_crowded(const struct diagnosis *diagnosis, uint32_t gpu)
{
    const struct suspects *const suspects = &diagnosis->suspects;
    const struct sight *const quiet = suspects_of(suspects, gpu, ASPECT_HOST);

    return suspects_of(suspects, gpu, ASPECT_CROWD)->ratio < SUSPECT_CROWD &&
           (suspects->explained[gpu] & (1u << ASPECT_HOST)) == 0 &&
           !isnan(quiet->ratio) && quiet->ratio >= SUSPECT_QUIET;
}

/* One alone shares nothing with anybody. */
static int32_t look_uplink(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    const struct facts *const facts = diagnosis->facts;
    struct arena *const arena = diagnosis->judging->arena;
    const char *names = NULL;
    uint32_t count = 0;
    uint32_t first = 0;

    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        if (!is_crowded(diagnosis, i)) {
            continue;
        }
        names =
            names == NULL
                ? arena_format(arena, "GPUs %d", facts->gpus[i].index)
                : arena_format(arena, "%s, %d", names, facts->gpus[i].index);
        first = count == 0 ? i : first;
        count++;
    }
    if (count < 2) {
        return NVBW_OK;
    }
    return diagnosis_report(diagnosis, rule, -1, -1, names,
        diagnosis_sight(
            diagnosis, suspects_of(&diagnosis->suspects, first, ASPECT_CROWD)));
}

/* ---- both ways over one link ---- */

/* Of both directions by themselves, taken together: from here on both at once
 * is usual. Healthy links reach 80 to 90 %, on hosts that others use 70 %; a
 * link that carries one direction at a time reaches 50 %. */
static const double BOTH_WAYS_LEAST = 0.62;

/* The one GPU whose link this cell loads in both directions, by copy engines,
 * and nothing else does; -1: it is no such cell. */
static int32_t both_ways_gpu(
    const struct diagnosis *diagnosis, const struct verdict *verdict)
{
    const struct record *const record = verdict->record;
    struct traffic traffic;

    if (record == NULL || isnan(verdict->figure) || record->gpus_count != 1 ||
        record->gpus[0] >= diagnosis->facts->gpus_count ||
        verdict->metric == NULL || strcmp(verdict->metric, "total") != 0 ||
        record->copy_bytes < SUSPECT_COPY_BYTES) {
        return -1;
    }
    traffic_of_record(diagnosis->facts, record, &traffic);
    return traffic.link == LINK_PCIE && traffic.load == LOAD_OPPOSED &&
                   traffic.initiator == NVBW_BY_CE
               ? (int32_t)record->gpus[0]
               : -1;
}

static int32_t report_half(struct diagnosis *diagnosis,
    const struct diagnosis_rule *rule, int32_t gpu, double both, double alone)
{
    char texts[2][32];

    quantity_format(
        both, NVBW_UNIT_BYTES_PER_SECOND, texts[0], sizeof texts[0]);
    quantity_format(
        alone, NVBW_UNIT_BYTES_PER_SECOND, texts[1], sizeof texts[1]);
    return diagnosis_report(diagnosis, rule, gpu, -1, NULL,
        arena_format(diagnosis->judging->arena,
            "%s in both directions together, %s in one alone", texts[0],
            texts[1]));
}

/* Each GPU once, with its best figure of both ways. */
static int32_t look_half(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    const struct verdicts *const out = diagnosis->out;

    for (uint32_t i = 0; i < diagnosis->facts->gpus_count; i++) {
        const double alone =
            suspects_of(&diagnosis->suspects, i, ASPECT_HOST)->figure;
        double both = NAN;

        for (uint32_t k = 0; k < out->count; k++) {
            if (both_ways_gpu(diagnosis, &out->list[k]) == (int32_t)i) {
                both = fmax(both, out->list[k].figure);
            }
        }
        if (both < 2.0 * alone * BOTH_WAYS_LEAST) {
            TRY(report_half(diagnosis, rule, (int32_t)i, both, alone));
        }
    }
    return NVBW_OK;
}

static const struct diagnosis_rule rules[] = {
    { .id = "serialised",
        .looks_at = "cells whose flows did not run side by side",
        .look = look_serialised,
        .sentence = "ran one after another what must run at once",
        .action = "unset CUDA_LAUNCH_BLOCKING; look for profilers, MPS limits "
                  "and tools that hook the driver",
        .next = "run again with a clean environment" },
    { .id = "half_duplex",
        .looks_at = "both directions of a link at once against one alone",
        .look = look_half,
        .sentence = "cannot use both directions of its PCIe link at once",
        .action = "look at relaxed ordering, payload and read request sizes; "
                  "a guest shares credits that its host hands out",
        .next = "DevCtl of `lspci -vv` (RlxdOrd, MaxPayload, MaxReadReq); "
                "compare with a sibling or a host without IOMMU translation" },
    { .id = "shared_uplink",
        .looks_at = "GPUs that are low only while all copy at once",
        .look = look_uplink,
        .sentence = "share uplinks with others, too narrow for all at once",
        .action = "move GPUs to other switches or sockets; see that the "
                  "switch's own uplink has all its lanes",
        .next = "LnkSta of the switch's upstream port in `lspci -tv`; alone "
                "each of them is well" },
};

const struct diagnosis_family diagnose_concurrency = {
    "concurrency and serialisation", rules, sizeof rules / sizeof rules[0]
};
