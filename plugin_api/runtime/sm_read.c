/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Was every word read? The sum that the kernels found against the sum of the
 * pattern itself, which a kernel of its own works out without memory. */
#include <stdio.h>

#include "cuda_session.h"
#include "sm_flow.h"
#include "state.h"

int32_t sm_fetch_sum(const struct gpu *gpu, cu_address sums, uint64_t *out_sum,
    struct error *err)
{
    uint64_t words[(size_t)SUM_SLOTS * SUM_STEP / sizeof(uint64_t)];

    CUDA_TRY(gpu->api, err, gpu->api->copy_up(words, sums, sizeof words),
        "GPU %d: the sum of a read", gpu->facts->index);
    *out_sum = 0;
    for (uint32_t i = 0; i < SUM_SLOTS; i++) {
        *out_sum += words[i * (SUM_STEP / sizeof(uint64_t))];
    }
    return NVBW_OK;
}

static int32_t add_expected(const struct cuda_flow *flow, cu_address sum,
    uint64_t slice, struct error *err)
{
    struct pattern_sum_args args = { flow->run->record.bytes,
        contents_key(flow, slice), sum };
    const uint64_t blocks = sm_blocks_of(SM_KERNEL_pattern_sum, SM_PEER,
        flow->run->record.bytes, 1, 4 * flow->gpu->facts->units, 1);

    return gpu_launch_sm(flow->gpu, SM_KERNEL_pattern_sum, flow->gpu->stream,
        &args, blocks, err);
}

/* Of all copies, also where they read the same slice again and again. */
static int32_t expect_sum(
    const struct cuda_flow *flow, uint64_t *out_sum, struct error *err)
{
    const struct sm_flow *const sm = flow->state;
    const struct gpu *const gpu = flow->gpu;

    *out_sum = 0;
    for (uint64_t i = 0; i < slices_used(flow); i++) {
        const uint64_t slice = slices_src_number(flow, i);
        const cu_address sum =
            sm->spare_sums + slice % SUM_SLOTS * SUM_STEP + 8;

        TRY(add_expected(flow, sum, slice, err));
    }
    TRY(gpu_wait(gpu, gpu->stream, SM_LIMIT_NS, "summing up a pattern", err));

    uint64_t words[(size_t)SUM_SLOTS * SUM_STEP / sizeof(uint64_t)];

    CUDA_TRY(gpu->api, err,
        gpu->api->copy_up(words, sm->spare_sums, sizeof words),
        "GPU %d: the sum of a pattern", gpu->facts->index);
    for (uint64_t copy = 0; copy < flow->copies; copy++) {
        const uint64_t slot = slices_src_number(flow, copy) % SUM_SLOTS;

        *out_sum += words[slot * (SUM_STEP / sizeof(uint64_t)) + 1];
    }
    return NVBW_OK;
}

static void tell_wrong(const struct cuda_session *cuda, struct record *record,
    uint64_t expected, uint64_t actual)
{
    struct error err = { 0 };

    record->mismatches++;
    record->mismatch_expected = expected;
    record->mismatch_actual = actual;
    snprintf(err.text, sizeof err.text,
        "the words that were read add up to %#018llx, not %#018llx: some were "
        "not read, or read wrong",
        (unsigned long long)actual, (unsigned long long)expected);
    settle_record(
        cuda->session->arena, record, STATE_MISMATCH, "wrong_data", &err);
}

void sm_tell_sum(const struct cuda_session *cuda, const struct cuda_flow *flow,
    uint64_t bytes, uint64_t expected, uint64_t actual)
{
    const struct session *const session = cuda->session;

    if (actual != expected) {
        verify_doubt(flow);
    }
    for (uint32_t i = 0; i < session->targets_count; i++) {
        struct record *const record = session->targets[i].record;

        if ((int32_t)i != flow->run->cell &&
            !target_totals(&session->targets[i], flow->run)) {
            continue;
        }
        record->verified = "sum";
        record->verified_bytes += bytes;
        if (actual != expected) {
            tell_wrong(cuda, record, expected, actual);
        }
    }
}

int32_t sm_verify_read(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    const struct sm_flow *const sm = flow->state;
    uint64_t expected = 0;
    uint64_t actual = 0;

    TRY(gpu_use(flow->gpu, err));
    TRY(sm_fetch_sum(flow->gpu, sm->sums, &actual, err));
    TRY(expect_sum(flow, &expected, err));
    sm_tell_sum(
        cuda, flow, flow->run->record.bytes * flow->copies, expected, actual);
    return NVBW_OK;
}
