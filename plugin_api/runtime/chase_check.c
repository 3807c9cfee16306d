/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What a sample's walks left behind: where each ended, on which SM, and how
 * long it took there. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "sm_chase.h"
#include "state.h"

enum { LOAD_BYTES = 8 };

static void add_unit(struct chase_flow *chase, uint64_t number)
{
    const struct chase_result *const result = &chase->results[number];

    if (result->unit < CHASE_UNITS_MOST && result->end_ns > result->start_ns) {
        struct chase_unit *const unit = &chase->seen[result->unit];

        unit->ns += (double)(result->end_ns - result->start_ns);
        unit->steps += (double)chase->walks[number].steps;
    }
}

static void tell_spread(const struct chase_flow *chase, struct record *record)
{
    record->spread_low = NAN;
    record->spread_high = NAN;
    for (uint32_t i = 0; i < CHASE_UNITS_MOST; i++) {
        const struct chase_unit *const unit = &chase->seen[i];

        if (unit->steps > 0.0) {
            const double each = unit->ns / unit->steps;

            record->spread_low = fmin(record->spread_low, each);
            record->spread_high = fmax(record->spread_high, each);
        }
    }
}

static void tell_wrong(struct cuda_session *cuda, const struct cuda_flow *flow,
    uint64_t number, uint64_t expected, struct record *record)
{
    const struct chase_flow *const chase = flow->state;
    const uint64_t actual = chase->results[number].at;
    struct error err = { 0 };

    if (record->mismatches++ > 0) {
        return;
    }
    record->mismatch_expected = expected;
    record->mismatch_actual = actual;
    snprintf(err.text, sizeof err.text,
        "walk %" PRIu64 " of %" PRIu64 " loads ended at %#" PRIx64
        ", not %#" PRIx64
        ": a load was left out, or the chain is not the one that was laid",
        number, chase->walks[number].steps, actual, expected);
    settle_record(
        cuda->session->arena, record, STATE_MISMATCH, "wrong_data", &err);
}

static void check_walks(
    struct cuda_session *cuda, struct cuda_flow *flow, struct record *record)
{
    const struct chase_flow *const chase = flow->state;

    record->verified = "all";
    for (uint64_t i = 0; i < flow->copies; i++) {
        const struct chase_walk *const walk = &chase->walks[i];
        const uint64_t expected =
            chain_at(&chase->chain, walk->rank + walk->steps);

        record->verified_bytes += walk->steps * LOAD_BYTES;
        if (chase->results[i].at != expected) {
            tell_wrong(cuda, flow, i, expected, record);
        }
    }
    tell_spread(chase, record);
}

/* The mean is one over all SMs only where each of them had its turn. */
static uint32_t count_missed(const struct chase_flow *chase)
{
    uint32_t seen = 0;

    for (uint32_t i = 0; i < CHASE_UNITS_MOST; i++) {
        seen += chase->seen[i].steps > 0.0;
    }
    return chase->turns >= chase->units && seen < chase->units
               ? chase->units - seen
               : 0;
}

int32_t chase_verify(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    const struct session *const session = cuda->session;
    struct chase_flow *const chase = flow->state;
    const struct gpu *const gpu = flow->gpu;

    TRY(gpu_use(gpu, err));
    CUDA_TRY(gpu->api, err,
        gpu->api->copy_up(chase->results, chase->room + CHASE_ROOM_RESULTS,
            sizeof chase->results),
        "GPU %d: results of a chase", gpu->facts->index);
    for (uint64_t i = 0; i < flow->copies; i++) {
        add_unit(chase, i);
    }
    chase->turns += chase_is_random(flow) ? flow->copies / 2 : flow->copies;
    for (uint32_t i = 0; i < session->targets_count; i++) {
        if ((int32_t)i == flow->run->cell ||
            target_totals(&session->targets[i], flow->run)) {
            check_walks(cuda, flow, session->targets[i].record);
        }
    }
    if (flow->run->cell >= 0) {
        session->targets[flow->run->cell].units_missed = count_missed(chase);
    }
    return NVBW_OK;
}
