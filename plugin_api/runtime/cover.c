/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Did the background last as long as what was measured? Proved by order: the
 * measured stream itself copies the words of the background before its start
 * and after its end.
 *
 * The second copy may have to wait until the background's own copy leaves the
 * engine, and the background moves on meanwhile: an event behind it tells how
 * long the steps between the two really took. */
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
            gpu->room + GPU_ROOM_SNAPSHOTS + (size_t)which * SNAPSHOT_BYTES,
            cuda->engine->page + (size_t)4 * WORD_PROGRESS, SNAPSHOT_BYTES,
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
            gpu->room + GPU_ROOM_SNAPSHOTS, (size_t)2 * SNAPSHOT_BYTES,
            gpu->stream),
        "GPU %d: progress of the background was not read", gpu->facts->index);
    return gpu_wait(gpu, gpu->stream, cover_limit_ns,
        "reading the background's progress", err);
}

/* Words of one snapshot: progress of all flows, then done of all. */
static const uint32_t *snapshot(const struct cuda_session *cuda, uint32_t which)
{
    const void *const page =
        cuda->engine->page + PAGE_SNAPSHOTS + (size_t)which * SNAPSHOT_BYTES;

    return page;
}

/* The steps between the snapshots were made in snapped_seconds, of which the
 * sample's seconds are the first part. */
struct interval {
    double seconds, snapped_seconds;
};

static int judge_flow(struct cuda_session *cuda, struct cuda_flow *flow,
    const struct interval *interval, struct sample *sample, double *out_bytes)
{
    const uint32_t *const before = snapshot(cuda, 0);
    const uint32_t *const after = snapshot(cuda, 1);
    const uint32_t steps = after[flow->slot] - before[flow->slot];
    const double step_bytes = steps > 0 ? (double)flow->run->record.bytes : 0.0;
    const double left = ((double)flow->copies - (double)after[flow->slot]) /
                        (double)flow->copies;

    flow->rate = (double)steps * step_bytes / interval->snapped_seconds;
    flow->ended = after[WORD_FLOWS + flow->slot] != 0;
    *out_bytes += flow->rate * interval->seconds;
    /* Steps of independent flows add as their squares do. */
    cuda->step_bytes =
        sqrt(cuda->step_bytes * cuda->step_bytes + step_bytes * step_bytes);
    sample->cover_margin =
        isnan(sample->cover_margin) ? left : fmin(sample->cover_margin, left);
    return !flow->ended && steps > 0;
}

int32_t cover_judge(struct cuda_session *cuda, double seconds,
    struct sample *sample, double *out_bytes, struct error *err)
{
    struct interval interval = { .seconds = seconds };
    int covered = 1;

    *out_bytes = 0.0;
    cuda->step_bytes = 0.0;
    if (cuda->background_count == 0) {
        return NVBW_OK;
    }
    TRY(fetch(cuda, err));
    TRY(cuda_elapsed(cuda->hub, cuda->hub->start, cuda->covered,
        &interval.snapped_seconds, err));
    for (uint32_t i = 0; i < cuda->count; i++) {
        if (cuda->flows[i].background) {
            covered &=
                judge_flow(cuda, &cuda->flows[i], &interval, sample, out_bytes);
        }
    }
    if (!covered) {
        sample->state = SAMPLE_UNCOVERED;
    }
    return NVBW_OK;
}
