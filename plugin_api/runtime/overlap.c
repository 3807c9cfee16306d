/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Did the flows that are measured together run together? Every flow copies at
 * a steady pace once it has begun, so a flow whose first copy took much longer
 * than its others waited for something first: streams that share a hardware
 * queue, an engine that takes one flow at a time. All flows start at one
 * moment, so such a wait is time in which they did not overlap.
 *
 * The price is one event per flow, between its first copy and its second. */
#include "cuda_session.h"

/* A wait that is forgiven: of the time that the flow's copies take, and in
 * any case. Streams of several GPUs start some tens of microseconds apart. */
#define LATE_RATIO   0.5
#define LATE_SECONDS 100e-6

uint32_t overlap_has_pace(
    const struct cuda_session *cuda, const struct cuda_flow *flow)
{
    return cuda->counted_count > 1 && !flow->background &&
           flow->initiator->one_by_one && flow->copies > 1;
}

int overlap_is_late(double first, double rest, uint64_t copies)
{
    const double each = rest / (double)(copies - 1);
    const double late = first - each;

    return late > LATE_SECONDS && late > LATE_RATIO * each * (double)copies;
}

static int32_t judge_flow(
    const struct cuda_flow *flow, struct sample *sample, struct error *err)
{
    double first = 0.0;
    double rest = 0.0;

    TRY(cuda_elapsed(flow, flow->start, flow->first, &first, err));
    TRY(cuda_elapsed(flow, flow->first, flow->end, &rest, err));
    if (overlap_is_late(first, rest, flow->copies)) {
        sample->state = SAMPLE_SERIALISED;
    }
    return NVBW_OK;
}

int32_t overlap_judge(
    const struct cuda_session *cuda, struct sample *sample, struct error *err)
{
    for (uint32_t i = 0; i < cuda->count; i++) {
        const struct cuda_flow *const flow = &cuda->flows[i];

        if (overlap_has_pace(cuda, flow)) {
            TRY(gpu_use(flow->gpu, err));
            TRY(judge_flow(flow, sample, err));
        }
    }
    return NVBW_OK;
}
