/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Copies by the bulk-copy engine (TMA) of each multiprocessor. All but the
 * kernel is as with the SM initiator. */
#include "cuda_session.h"
#include "sm_flow.h"

static int32_t open_flow(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    TRY(gpu_need_hopper(flow->gpu, "bulk copies (TMA)", err));
    return sm_open_flow(cuda, flow, err);
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
