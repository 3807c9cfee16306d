/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Did the background last as long as what was measured? Proved by order: the
 * measured stream itself copies the words of the background before its start
 * and after its end. */
#include <math.h>

#include "cuda_session.h"

enum { SNAPSHOT_BYTES = SNAPSHOT_WORDS * 4 };

static const uint64_t cover_limit_ns = UINT64_C(10000000000);

int32_t cover_snapshot(
    struct cuda_session *cuda, uint32_t which, struct error *err)
{
    const struct gpu *const gpu = cuda->hub->gpu;

    CUDA_TRY(gpu->api, err,
        gpu->api->copy_down_async(
            gpu->room + GPU_ROOM_SNAPSHOTS + which * SNAPSHOT_BYTES,
            cuda->engine->page + 4 * WORD_PROGRESS, SNAPSHOT_BYTES,
            cuda->hub->stream),
        "GPU %d: progress of the background was not queued", gpu->facts->index);
    return NVBW_OK;
}

static int32_t fetch(struct cuda_session *cuda, struct error *err)
{
    const struct gpu *const gpu = cuda->hub->gpu;

    TRY(gpu_use(gpu, err));
    CUDA_TRY(gpu->api, err,
        gpu->api->copy_up_async(cuda->engine->page + PAGE_SNAPSHOTS,
            gpu->room + GPU_ROOM_SNAPSHOTS, 2 * SNAPSHOT_BYTES, gpu->stream),
        "GPU %d: progress of the background was not read", gpu->facts->index);
    return gpu_wait(gpu, gpu->stream, cover_limit_ns,
        "reading the background's progress", err);
}

/* Words of one snapshot: progress of all flows, then done of all. */
static const uint32_t *snapshot(const struct cuda_session *cuda, uint32_t which)
{
    const void *const page =
        cuda->engine->page + PAGE_SNAPSHOTS + which * SNAPSHOT_BYTES;

    return page;
}

static int judge_flow(struct cuda_session *cuda, struct cuda_flow *flow,
    double seconds, struct sample *sample, double *out_bytes)
{
    const uint32_t *const before = snapshot(cuda, 0);
    const uint32_t *const after = snapshot(cuda, 1);
    const uint32_t steps = after[flow->slot] - before[flow->slot];
    const double bytes = (double)steps * (double)flow->run->record.bytes;
    const double left = ((double)flow->copies - (double)after[flow->slot]) /
                        (double)flow->copies;

    const double step_bytes = steps > 0 ? (double)flow->run->record.bytes : 0.0;

    *out_bytes += bytes;
    /* Steps of independent flows add as their squares do. */
    cuda->step_bytes =
        sqrt(cuda->step_bytes * cuda->step_bytes + step_bytes * step_bytes);
    flow->rate = seconds > 0.0 ? bytes / seconds : 0.0;
    sample->cover_margin =
        isnan(sample->cover_margin) ? left : fmin(sample->cover_margin, left);
    return after[WORD_FLOWS + flow->slot] == 0 && steps > 0;
}

int32_t cover_judge(struct cuda_session *cuda, double seconds,
    struct sample *sample, double *out_bytes, struct error *err)
{
    int covered = 1;

    *out_bytes = 0.0;
    cuda->step_bytes = 0.0;
    if (cuda->background_count == 0) {
        return NVBW_OK;
    }
    TRY(fetch(cuda, err));
    for (uint32_t i = 0; i < cuda->count; i++) {
        if (cuda->flows[i].background) {
            covered &=
                judge_flow(cuda, &cuda->flows[i], seconds, sample, out_bytes);
        }
    }
    if (!covered) {
        sample->state = SAMPLE_UNCOVERED;
    }
    return NVBW_OK;
}
