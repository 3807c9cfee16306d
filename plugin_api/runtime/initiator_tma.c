/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Copies by the bulk-copy engine (TMA) of each multiprocessor. All but the
 * kernel is as with the SM initiator. */
#include "cuda_session.h"
#include "sm_flow.h"

enum { COMPUTE_LEAST = 90 };

static int32_t open_flow(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    const struct gpu_facts *const gpu = flow->gpu->facts;

    if (gpu->compute >= COMPUTE_LEAST) {
        return sm_open_flow(cuda, flow, err);
    }
    error_set(err, NVBW_E_SKIPPED,
        "bulk copies (TMA) need compute capability %d.%d, GPU %d has %u.%u",
        COMPUTE_LEAST / 10, COMPUTE_LEAST % 10, gpu->index, gpu->compute / 10,
        gpu->compute % 10);
    if (err != NULL) {
        err->code = NVBW_SKIP_ARCH_TOO_OLD;
    }
    return NVBW_E_SKIPPED;
}

const struct initiator initiator_tma = {
    .name = "tma",
    .operations = 1u << NVBW_OP_COPY,
    .open = open_flow,
    .enqueue = sm_enqueue,
    .begin = sm_begin,
    .stamps = sm_get_stamps,
    .close = sm_close_flow,
};
