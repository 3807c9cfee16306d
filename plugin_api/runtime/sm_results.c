/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What initiators whose sources are laid once share: work on all of a flow's
 * bytes, beside samples, on the engine's own stream. */
#include "cuda_session.h"
#include "sm_flow.h"

enum { RESULT_WORDS = 2, BLOCKS_PER_UNIT = 4 };

int32_t sm_wait(const struct gpu *gpu, const char *what, struct error *err)
{
    return gpu_wait(gpu, gpu->stream, SM_LIMIT_NS, what, err);
}

int32_t sm_launch_over(const struct cuda_flow *flow, uint32_t kernel,
    void *args, struct error *err)
{
    const uint64_t blocks =
        sm_blocks_of(kernel, SM_PEER, flow->run->record.bytes, 1,
            BLOCKS_PER_UNIT * flow->gpu->facts->units, 1);

    return gpu_launch_sm(
        flow->gpu, kernel, flow->gpu->stream, args, blocks, err);
}

int32_t sm_sum_once(const struct cuda_flow *flow, uint32_t kernel, void *args,
    struct error *err)
{
    struct sm_flow *const sm = flow->state;
    const struct gpu *const gpu = flow->gpu;

    CUDA_TRY(gpu->api, err,
        gpu->api->set_words_async(
            sm->sums, 0, sizeof sm->lap_sum / 4, gpu->stream),
        "GPU %d: a sum that is expected", gpu->facts->index);
    TRY(sm_launch_over(flow, kernel, args, err));
    TRY(sm_wait(gpu, "summing up what is expected", err));
    CUDA_TRY(gpu->api, err,
        gpu->api->copy_up(&sm->lap_sum, sm->sums, sizeof sm->lap_sum),
        "GPU %d: a sum that is expected", gpu->facts->index);
    return NVBW_OK;
}

int32_t sm_verify_sum(struct cuda_session *cuda, const struct cuda_flow *flow,
    uint64_t bytes, struct error *err)
{
    const struct sm_flow *const sm = flow->state;
    uint64_t actual = 0;

    TRY(sm_fetch_sum(flow->gpu, sm->sums, &actual, err));
    sm_tell_sum(
        cuda, flow, bytes * flow->copies, sm->lap_sum * flow->copies, actual);
    return NVBW_OK;
}

int32_t sm_compare(const struct cuda_flow *flow, uint32_t kernel, void *args,
    struct finding *out, struct error *err)
{
    const struct sm_flow *const sm = flow->state;
    const struct gpu *const gpu = flow->gpu;
    const struct flow_run *const run = flow->run;
    const uint64_t clear[RESULT_WORDS] = { 0, UINT64_MAX };
    uint64_t found[RESULT_WORDS] = { 0, 0 };

    CUDA_TRY(gpu->api, err,
        gpu->api->copy_down_async(sm->sums, clear, sizeof clear, gpu->stream),
        "GPU %d: results of a comparison", gpu->facts->index);
    TRY(sm_launch_over(flow, kernel, args, err));
    TRY(sm_wait(gpu, "comparing results", err));
    CUDA_TRY(gpu->api, err, gpu->api->copy_up(found, sm->sums, sizeof found),
        "GPU %d: results of a comparison", gpu->facts->index);
    *out = (struct finding){ .bytes = run->record.bytes, .wrong = found[0] };
    if (found[0] == 0) {
        return NVBW_OK;
    }

    const uint64_t left = run->record.bytes - found[1];

    out->first.offset = found[1];
    CUDA_TRY(gpu->api, err,
        gpu->api->copy_up(&out->first.actual,
            run->dst->device + slices_dst_offset(flow, 0) + found[1],
            left < sizeof(uint64_t) ? left : sizeof(uint64_t)),
        "GPU %d: a wrong word cannot be read", gpu->facts->index);
    return NVBW_OK;
}
