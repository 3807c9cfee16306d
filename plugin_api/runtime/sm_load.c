/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A load beside which something else is measured: reads by the SMs that the
 * measured flow leaves, at a part of the rate that they reach alone. That is
 * measured first, by the same kernel without a pace. What was really read while
 * the measured flow ran is the cover's to tell (cover.c). */
#include "cuda_session.h"
#include "flow.h"
#include "sm_flow.h"

#define FULL_PERMILLE 1000.0

static int32_t open_flow(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    const struct flow_record *const record = &flow->run->record;

    FAIL_IF(record->element != 0 || record->offset != 0, err, NVBW_E_INVALID,
        "a load has no element size and no offset");
    return sm_open_kernel(cuda, flow, SM_KERNEL_read_paced, err);
}

double sm_load_rate(const struct cuda_flow *flow)
{
    return flow->full_rate * flow->run->record.load_permille / FULL_PERMILLE;
}

static uint64_t pace_of(const struct cuda_flow *flow, uint64_t blocks)
{
    const double rate = sm_load_rate(flow);

    if (flow->run->record.load_permille >= (uint32_t)FULL_PERMILLE ||
        !(rate > 0.0)) {
        return 0;
    }

    const double pace_ns = (double)blocks * PACED_TILE * 1e9 / rate;

    return pace_ns < 1.0 ? 1 : (uint64_t)(pace_ns + 0.5);
}

/* Reads so many bytes from there on. */
static int32_t launch(const struct cuda_flow *flow, uint64_t src,
    uint64_t bytes, cu_address sums, struct error *err)
{
    const struct sm_flow *const sm = flow->state;
    const uint64_t blocks = sm_blocks_of(sm->kernel, sm->path, bytes,
        sm->resident, flow->gpu->facts->units, sm->sharing);
    struct read_paced_args args = { .read = { .src = src,
                                        .bytes = bytes,
                                        .sums = sums,
                                        .span = vector_span_of(src, bytes) },
        .pace_ns = pace_of(flow, blocks) };

    return gpu_launch_sm(
        flow->gpu, sm->kernel, flow->stream, &args, blocks, err);
}

static int32_t enqueue(struct cuda_session *cuda, struct cuda_flow *flow,
    uint64_t first, uint64_t count, struct error *err)
{
    const struct sm_flow *const sm = flow->state;

    (void)cuda;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t number = first == COPY_WARM_UP ? first : first + i;

        TRY(launch(flow,
            flow->run->src->device + slices_src_offset(flow, number),
            slices_bytes(flow, number),
            number == COPY_WARM_UP ? sm->spare_sums : sm->sums, err));
    }
    return NVBW_OK;
}

/* All that the buffer has, so that a kernel's start does not show; a CPU that
 * stands for the memory reads one slice. */
static uint64_t full_bytes(
    const struct cuda_session *cuda, const struct cuda_flow *flow)
{
    return cuda->session->facts->simulated
               ? flow->run->record.bytes
               : slices_all(flow) * flow->run->src_step;
}

/* The second time counts: the first one wakes links and memory. */
static int32_t measure_full(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    const struct sm_flow *const sm = flow->state;
    const uint64_t bytes = full_bytes(cuda, flow);
    const uint64_t src = flow->run->src->device;
    double seconds = 0.0;

    TRY(gpu_use(flow->gpu, err));
    TRY(launch(flow, src, bytes, sm->spare_sums, err));
    TRY(cuda_record_event(flow, flow->start, err));
    TRY(launch(flow, src, bytes, sm->spare_sums, err));
    TRY(cuda_record_event(flow, flow->end, err));
    TRY(gpu_wait(flow->gpu, flow->stream, SM_LIMIT_NS,
        "measuring the full rate of a load", err));
    TRY(cuda_elapsed(flow, flow->start, flow->end, &seconds, err));
    flow->full_rate = (double)bytes / seconds;
    return NVBW_OK;
}

static int32_t begin(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    if (!(flow->full_rate > 0.0)) {
        TRY(measure_full(cuda, flow, err));
    }
    return sm_begin(cuda, flow, err);
}

const struct initiator loader_sm = {
    .name = "sm",
    .operations = 1u << NVBW_OP_READ,
    .open = open_flow,
    .enqueue = enqueue,
    .begin = begin,
    .verify = sm_verify_read,
    .close = sm_close_flow,
};
