/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Flows by single accesses: copies, reads and writes whose stride says how far
 * one is from the next, or that they go to random places, each element once.
 * All copies of a sample go through the same memory, which outruns the caches.
 *
 *   lay      the source: the pattern, for all samples
 *   verify   the destination, poisoned after the warm-up: what was accessed is
 *            there, and nothing else; of reads the sum of all copies */
#include "access_place.h"
#include "cuda_session.h"
#include "flow.h"
#include "sm_flow.h"

enum { LEAST_BYTES = 4, COPIES_SIMULATED = 4 };

static const uint32_t kernels[] = {
    [NVBW_OP_COPY] = SM_KERNEL_access_copy,
    [NVBW_OP_READ] = SM_KERNEL_access_read,
    [NVBW_OP_WRITE] = SM_KERNEL_access_write,
};

static cu_address src_of(const struct cuda_flow *flow)
{
    return flow->run->src == NULL
               ? 0
               : flow->run->src->device + slices_src_offset(flow, 0);
}

static cu_address dst_of(const struct cuda_flow *flow)
{
    return flow->run->dst == NULL
               ? 0
               : flow->run->dst->device + slices_dst_offset(flow, 0);
}

/* ---- Opening ------------------------------------------------------------- */

static int32_t skip(int32_t reason, struct error *err)
{
    if (err != NULL) {
        err->code = reason;
    }
    return NVBW_E_SKIPPED;
}

static int32_t check_flow(const struct flow_record *record, struct error *err)
{
    const struct flow_accesses all = flow_accesses_of(record);

    if (all.element < LEAST_BYTES) {
        error_set(err, NVBW_E_SKIPPED,
            "accesses of %llu bytes: this build has them of 4, 8 and 16",
            (unsigned long long)all.element);
        return skip(NVBW_SKIP_NOT_BUILT, err);
    }
    FAIL_IF(!all.random && record->stride % all.element != 0, err,
        NVBW_E_INVALID,
        "a stride of %u bytes is no multiple of accesses of %llu bytes",
        record->stride, (unsigned long long)all.element);
    FAIL_IF(record->offset % all.element != 0, err, NVBW_E_INVALID,
        "accesses of %llu bytes cannot begin %llu bytes on: each is at a "
        "multiple of its size",
        (unsigned long long)all.element, (unsigned long long)record->offset);
    if (all.count == 0) {
        error_set(err, NVBW_E_SKIPPED,
            "no access of %llu bytes fits %llu: buffer_size is too small",
            (unsigned long long)all.element, (unsigned long long)record->bytes);
        return skip(NVBW_SKIP_MEMORY, err);
    }
    return NVBW_OK;
}

static int32_t open_flow(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    struct flow_record *const record = &flow->run->record;
    const struct flow_accesses all = flow_accesses_of(record);

    TRY(check_flow(record, err));
    record->bytes = all.random ? all.count * all.element
                               : record->bytes - record->bytes % all.element;
    return sm_open_kernel(cuda, flow, kernels[record->operation], err);
}

/* What a simulated GPU accesses is accessed by a CPU. */
static void bounds(const struct cuda_session *cuda,
    const struct cuda_flow *flow, uint64_t *least, uint64_t *most)
{
    (void)flow;
    if (cuda->session->facts->simulated) {
        *least = COPIES_SIMULATED;
        *most = COPIES_SIMULATED;
    }
}

/* ---- Source -------------------------------------------------------------- */

static int32_t fill(const struct cuda_flow *flow, struct error *err)
{
    struct fill_args args = { src_of(flow), flow->run->record.bytes,
        contents_key(flow, 0) };

    flow->run->src->content = 0;
    TRY(gpu_launch(
        flow->gpu, GPU_KERNEL_fill, flow->gpu->stream, &args, args.bytes, err));
    return sm_wait(flow->gpu, "filling a source", err);
}

static int32_t expect_sum(const struct cuda_flow *flow, struct error *err)
{
    const struct sm_flow *const sm = flow->state;
    const struct flow_accesses all = flow_accesses_of(&flow->run->record);
    struct access_sum_args args = { flow->run->record.bytes,
        contents_key(flow, 0), all.element, all.step, sm->sums };

    return sm_sum_once(flow, SM_KERNEL_access_sum, &args, err);
}

static int32_t lay(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    const struct flow_run *const run = flow->run;

    FAIL_IF((run->src != NULL && run->src->device == 0) ||
                (run->dst != NULL && run->dst->device == 0),
        err, NVBW_E_INVALID,
        "accesses by a GPU need memory that the GPU can address");
    flow->epochs[0] = ++cuda->engine->epoch;
    TRY(gpu_use(flow->gpu, err));
    if (run->src != NULL) {
        TRY(fill(flow, err));
    }
    return run->record.operation == NVBW_OP_READ ? expect_sum(flow, err)
                                                 : NVBW_OK;
}

/* ---- Samples ------------------------------------------------------------- */

static int32_t launch(
    const struct cuda_flow *flow, uint64_t number, struct error *err)
{
    const struct sm_flow *const sm = flow->state;
    const struct flow_accesses all = flow_accesses_of(&flow->run->record);
    struct access_args args = { dst_of(flow), src_of(flow),
        contents_key(flow, 0), all.element, all.count, all.step, all.bits,
        number == COPY_WARM_UP ? sm->spare_sums : sm->sums,
        sm_stamps_of(sm, number) };
    const uint64_t blocks =
        sm_blocks_of(sm->kernel, sm->path, all.count * all.element,
            sm->resident, flow->gpu->facts->units, sm->sharing);

    return gpu_launch_sm(
        flow->gpu, sm->kernel, flow->stream, &args, blocks, err);
}

static int32_t enqueue(struct cuda_session *cuda, struct cuda_flow *flow,
    uint64_t first, uint64_t count, struct error *err)
{
    (void)cuda;
    for (uint64_t i = 0; i < count; i++) {
        TRY(launch(flow, first == COPY_WARM_UP ? first : first + i, err));
    }
    return NVBW_OK;
}

/* ---- Results ------------------------------------------------------------- */

static int32_t verify_destination(
    struct cuda_session *cuda, const struct cuda_flow *flow, struct error *err)
{
    const struct sm_flow *const sm = flow->state;
    const struct flow_accesses all = flow_accesses_of(&flow->run->record);
    struct access_compare_args args = { dst_of(flow), flow->run->record.bytes,
        contents_key(flow, 0), all.element, all.step,
        flow->run->record.operation == NVBW_OP_WRITE, POISON_WORD, sm->sums,
        sm->sums + sizeof(uint64_t) };
    struct finding finding = { 0 };

    TRY(sm_compare(flow, SM_KERNEL_access_compare, &args, &finding, err));
    finding.first.expected =
        access_word(&args, finding.first.offset / sizeof(uint64_t));
    verify_tell(cuda, flow, &finding);
    return NVBW_OK;
}

static int32_t verify(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    const struct flow_record *const record = &flow->run->record;

    TRY(gpu_use(flow->gpu, err));
    return record->operation == NVBW_OP_READ
               ? sm_verify_sum(cuda, flow, flow_counted_bytes(record), err)
               : verify_destination(cuda, flow, err);
}

const struct initiator accesser_sm = {
    .name = "sm",
    .operations = 1u << NVBW_OP_COPY | 1u << NVBW_OP_READ | 1u << NVBW_OP_WRITE,
    .open = open_flow,
    .bounds = bounds,
    .lay = lay,
    .enqueue = enqueue,
    .begin = sm_begin,
    .stamps = sm_get_stamps,
    .verify = verify,
    .close = sm_close_flow,
};
