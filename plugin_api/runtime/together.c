/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Did flows of one GPU run at the same time? Their kernels stamp when they
 * start and end, by the one clock of that GPU. */
#include "together.h"

#include "cuda_session.h"

/* Of the shorter flow's busy time, that the other must have been busy too. */
#define TOGETHER_LEAST 0.5

uint64_t together_busy(const struct stamp *stamps, uint64_t count)
{
    uint64_t busy = 0;

    for (uint64_t i = 0; i < count; i++) {
        if (stamps[i].end_ns > stamps[i].start_ns) {
            busy += stamps[i].end_ns - stamps[i].start_ns;
        }
    }
    return busy;
}

uint64_t together_overlap(const struct stamp *one, uint64_t one_count,
    const struct stamp *other, uint64_t other_count)
{
    uint64_t overlap = 0;
    uint64_t i = 0;
    uint64_t j = 0;

    while (i < one_count && j < other_count) {
        const uint64_t start = one[i].start_ns > other[j].start_ns
                                   ? one[i].start_ns
                                   : other[j].start_ns;
        const uint64_t end =
            one[i].end_ns < other[j].end_ns ? one[i].end_ns : other[j].end_ns;

        overlap += end > start ? end - start : 0;
        if (one[i].end_ns <= other[j].end_ns) {
            i++;
        } else {
            j++;
        }
    }
    return overlap;
}

static int32_t judge_pair(struct cuda_session *cuda, struct cuda_flow *one,
    struct cuda_flow *other, struct sample *sample, struct error *err)
{
    const struct stamp *one_stamps = NULL;
    const struct stamp *other_stamps = NULL;
    uint64_t one_count = 0;
    uint64_t other_count = 0;

    TRY(one->initiator->stamps(cuda, one, &one_stamps, &one_count, err));
    TRY(other->initiator->stamps(
        cuda, other, &other_stamps, &other_count, err));

    const uint64_t a = together_busy(one_stamps, one_count);
    const uint64_t b = together_busy(other_stamps, other_count);
    const double shorter = (double)(a < b ? a : b);
    const uint64_t overlap =
        together_overlap(one_stamps, one_count, other_stamps, other_count);

    if ((double)overlap < TOGETHER_LEAST * shorter) {
        sample->state = SAMPLE_SERIALISED;
    }
    return NVBW_OK;
}

int32_t together_judge(
    struct cuda_session *cuda, struct sample *sample, struct error *err)
{
    for (uint32_t i = 0; i < cuda->count; i++) {
        for (uint32_t j = i + 1; j < cuda->count; j++) {
            struct cuda_flow *const one = &cuda->flows[i];
            struct cuda_flow *const other = &cuda->flows[j];

            if (sample->state == SAMPLE_GOOD && one->gpu == other->gpu &&
                one->initiator->stamps != NULL &&
                other->initiator->stamps != NULL) {
                TRY(judge_pair(cuda, one, other, sample, err));
            }
        }
    }
    return NVBW_OK;
}
