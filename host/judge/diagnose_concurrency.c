/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What goes wrong only when several things move at once. */
#include <math.h>
#include <string.h>

#include "diagnosis.h"

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

static const struct diagnosis_rule rules[] = {
    { .id = "serialised",
        .looks_at = "cells whose flows did not run side by side",
        .look = look_serialised,
        .sentence = "ran one after another what must run at once",
        .action = "unset CUDA_LAUNCH_BLOCKING; look for profilers, MPS limits "
                  "and tools that hook the driver",
        .next = "run again with a clean environment" },
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
